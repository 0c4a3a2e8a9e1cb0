/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * How long a queue pair waits for an ACK: 4.096 us * 2^TIMEOUT, by rdma_set_option(). Connects,
 * waits for a line on its standard input, by which the cable may be out, and sends a word as long
 * as the queue pair tries.
 *
 * usage: cm-timeout ADDRESS TIMEOUT [RETRIES]
 */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT    "7471"
#define RETRIES 3

static char word[64] = "hello";

static void
must(int succeeds, const char *what)
{
	if (succeeds)
		return;
	perror(what);
	exit(1);
}

static struct rdma_cm_id *
connect_to(const char *address, uint8_t timeout, uint8_t retries)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *to;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_conn_param param = { .responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = retries,
		.rnr_retry_count = 7 };
	struct rdma_cm_id *id;

	must(rdma_getaddrinfo(address, PORT, &hints, &to) == 0, address);
	must(rdma_create_ep(&id, to, NULL, &attr) == 0, "rdma_create_ep");
	/* Before the connection: rdma_connect() sets the queue pair's attributes. */
	must(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
		     sizeof(timeout)) == 0,
		"rdma_set_option");
	must(rdma_connect(id, &param) == 0, "rdma_connect");
	rdma_freeaddrinfo(to);
	return id;
}

int
main(int argc, char **argv)
{
	struct rdma_cm_id *id;
	struct ibv_wc wc;
	struct ibv_mr *mr;
	char line[16];

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: %s ADDRESS TIMEOUT [RETRIES]\n", argv[0]);
		return 2;
	}
	id = connect_to(
		argv[1], (uint8_t)atoi(argv[2]), argc == 4 ? (uint8_t)atoi(argv[3]) : RETRIES);
	mr = rdma_reg_msgs(id, word, sizeof(word));
	must(mr != NULL, "rdma_reg_msgs");
	puts("connected");
	fflush(stdout);
	must(fgets(line, sizeof(line), stdin) != NULL, "standard input");
	must(rdma_post_send(id, NULL, word, sizeof(word), mr, 0) == 0, "rdma_post_send");
	must(rdma_get_send_comp(id, &wc) == 1, "rdma_get_send_comp");
	printf("sent: %s\n", ibv_wc_status_str(wc.status));
	return 0;
}
