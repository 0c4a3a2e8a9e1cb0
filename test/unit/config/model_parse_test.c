/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Models from text: what is read, what is refused and why, what is left out. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <unistd.h>
#include <cmocka.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include "config/model_parse.h"

/** The least that a file has. */
static const char *const given[] = {
	"name = mine",
	"board = a card",
	"vendor_part_id = 0x1017",
	"fw_ver = 16.35.2000",
	"max_qp = 1000",
	"max_qp_wr = 8192",
	"max_sge = 30",
	"max_cq = 1000",
	"max_cqe = 4194303",
	"max_mr = 1000",
	"max_mr_size = 0xffffffffffffffff",
	"max_pd = 1000",
	"max_wq_type_rq = 1000",
	"max_rwq_indirection_tables = 100",
	"max_rwq_indirection_table_size = 512",
	"cvlan_stripping = yes",
	"scatter_fcs = no",
	"ip_csum = yes",
	"rx_hash_fields = src_ipv4 dst_ipv4",
	"max_tso = 262144",
	"multi_pkt_send = mpw enhanced",
	"tunnel_offloads = vxlan",
	"sw_parsing = sw_parsing csum",
	"cqe_comp_max = 64",
	"cqe_comp_formats = hash csum",
	"cqe_128b_pad = yes",
	"min_wqe_log_strides = 3",
	"rate_limit_max_kbps = 1000",
	"max_dm_size = 4096",
};
#define NB_GIVEN (sizeof(given) / sizeof(given[0]))

/** Write the least, with @p line for what has its key, or besides. "-KEY": without it. */
static void
write_text(char *text, size_t size, const char *line)
{
	const bool without = line[0] == '-';
	const char *key = line + without;
	const size_t length = strcspn(key, " ");
	size_t at = 0;

	for (size_t i = 0; i < NB_GIVEN; i++)
		if (strncmp(given[i], key, length) != 0 || given[i][length] != ' ')
			at += (size_t)snprintf(text + at, size - at, "%s\n", given[i]);
	snprintf(text + at, size - at, "%s\n", without ? "" : line);
}

static int
parse(struct shca_model *model, const char *line, char *error, size_t error_size)
{
	char text[4096];

	write_text(text, sizeof(text), line);
	return shca_model_parse(model, text, error, error_size);
}

static void
test_the_least(void **state)
{
	struct shca_model model;
	char error[256];

	(void)state;
	assert_int_equal(parse(&model, "# nothing more", error, sizeof(error)), 0);
	assert_string_equal(model.name, "mine");
	assert_string_equal(model.board, "a card");
	assert_int_equal(model.pci_device_id, 0x1017);
	assert_true(model.fw_ver == (16ull << 32 | 35 << 16 | 2000));
	assert_int_equal(model.max_qp_wr, 8192);
	assert_true(model.max_mr_size == UINT64_MAX);
	assert_true(model.cvlan_strip && model.checksum && model.cqe_128b_pad);
	assert_false(model.scatter_fcs);
	assert_true(model.rx_hash_fields == (IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4));
	assert_int_equal(model.multi_pkt_send, SHCA_MPW_OLD | SHCA_MPW_ENHANCED);
	assert_int_equal(model.tunnel_offloads, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN);
	assert_int_equal(model.sw_parsing, MLX5DV_SW_PARSING | MLX5DV_SW_PARSING_CSUM);
	assert_int_equal(model.min_log_strides, 3);
	/* Defaults. */
	assert_int_equal(model.pci_vf_id, 0x101e);
	assert_int_equal(model.min_inline, SHCA_MIN_INLINE_NONE);
	assert_int_equal(model.max_sq_desc_bytes, 1024);
	assert_true(model.dont_trap && model.sniffer);
	assert_int_equal(model.modify_actions, 0);
	assert_int_equal(model.max_fte_destinations, 4096);
	assert_string_equal(model.left_out, "");
}

static void
test_every_form(void **state)
{
	struct shca_model model;
	char error[256];

	(void)state;
	assert_int_equal(
		parse(&model, "\t hw_ver=\t0x10  # of the board\r", error, sizeof(error)), 0);
	assert_int_equal(model.hw_ver, 16);
	assert_int_equal(parse(&model, "min_inline = l2", error, sizeof(error)), 0);
	assert_int_equal(model.min_inline, SHCA_MIN_INLINE_L2);
	assert_int_equal(parse(&model, "tunnel_offloads = none", error, sizeof(error)), 0);
	assert_int_equal(model.tunnel_offloads, 0);
	assert_int_equal(parse(&model, "modify_headers = 7", error, sizeof(error)), 0);
	assert_int_equal(model.max_modify_headers, 7);
}

static void
test_what_no_softhca_has_is_left_out(void **state)
{
	struct shca_model model;
	char error[256];

	(void)state;
	assert_int_equal(parse(&model, "tunnel_offloads = gre geneve", error, sizeof(error)), 0);
	assert_int_equal(model.tunnel_offloads, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE);
	assert_string_equal(model.left_out, "tunnel_offloads geneve");
	assert_int_equal(parse(&model, "max_dm_size = 1048576", error, sizeof(error)), 0);
	assert_int_equal(model.max_dm_bytes, 64 * 4096);
	assert_string_equal(model.left_out, "max_dm_size 1048576");
	assert_int_equal(parse(&model,
				 "rx_hash_fields = ipsec_spi inner\n"
				 "modify_header_actions = 32\npacket_reformat_bytes = 130",
				 error, sizeof(error)),
		0);
	assert_true(model.rx_hash_fields == (uint64_t)IBV_RX_HASH_INNER);
	assert_int_equal(model.modify_actions, 16);
	assert_int_equal(model.encap_bytes, 128);
	assert_string_equal(model.left_out,
		"rx_hash_fields ipsec_spi, modify_header_actions 32, "
		"packet_reformat_bytes 130");
}

static const struct {
	const char *line, *error;
} bad[] = {
	{ "speed = 3", "line 30: no key 'speed'; softhca help lists them" },
	{ "speed", "line 30: no 'KEY = VALUE'" },
	{ "max_qp =", "line 29: max_qp: needs a value" },
	{ "hw_ver = 256", "line 30: hw_ver: '256' is no number from 0 to 255" },
	{ "hw_ver = 1\nhw_ver = 1", "line 31: hw_ver: given twice" },
	{ "-max_tso", "max_tso: is not given" },
	{ "max_qp = 0", "line 29: max_qp: '0' is no number from 1 to 4294967295" },
	{ "max_qp = many", "line 29: max_qp: 'many' is no number from 1 to 4294967295" },
	{ "max_sge = 63", "line 29: max_sge: '63' is no number from 1 to 62" },
	{ "max_tso = -1", "line 29: max_tso: '-1' is no number from 0 to 262144" },
	{ "max_rwq_indirection_table_size = 16384",
		"line 29: max_rwq_indirection_table_size: '16384' is no number from 1 to 8192" },
	{ "ip_csum = on", "line 29: ip_csum: no 'on'; there are no, yes" },
	{ "sw_parsing = lso tso",
		"line 29: sw_parsing: no 'tso'; there are sw_parsing, csum, lso" },
	{ "fw_ver = 16.35", "line 29: fw_ver: not three numbers with dots between them" },
	{ "fw_ver = 16.35.2000.1", "line 29: fw_ver: not three numbers with dots between them" },
	{ "fw_ver = 16.x.2000", "line 29: fw_ver: not three numbers with dots between them" },
	{ "name = a-name-of-more-than-31-characters", "line 29: name: longer than 31 bytes" },
	{ "module = a-part-number-of-17", "line 30: module: longer than 16 bytes" },
	{ "board = \x80", "line 29: board: a byte that is no printable character" },
	/* What no device has. */
	{ "max_cqe = 4194304",
		"max_qp_wr, max_send_wqebb, max_recv_wr, max_rwq_indirection_table_size and "
		"max_cqe + 1 must be powers of two" },
	{ "max_rq_desc_bytes = 256",
		"max_sge segments of 16 bytes must fit in max_rq_desc_bytes, and with 48 bytes "
		"more in max_sq_desc_bytes" },
	{ "max_sq_desc_bytes = 512",
		"max_sge segments of 16 bytes must fit in max_rq_desc_bytes, and with 48 bytes "
		"more in max_sq_desc_bytes" },
	{ "cqe_comp_formats = none", "cqe_comp_max and cqe_comp_formats go together" },
	{ "cqe_comp_max = 0", "cqe_comp_max and cqe_comp_formats go together" },
	{ "sw_parsing = lso", "sw_parsing csum and lso need sw_parsing" },
	{ "rate_limit_max_kbps = 0\nrate_limit_bursts = yes",
		"rate_limit_bursts needs a rate_limit_max_kbps" },
	{ "min_wqe_log_strides = 2", "min_wqe_log_strides is 0 or from 3 on" },
	{ "max_dm_size = 100", "max_dm_size must be whole pages of 4096 bytes" },
	{ "reformat_and_fwd_to_table = yes",
		"reformat_and_* need packet_reformat_bytes, and with modify_action "
		"modify_header_actions" },
	{ "reformat_and_modify_action = yes\npacket_reformat_bytes = 64",
		"reformat_and_* need packet_reformat_bytes, and with modify_action "
		"modify_header_actions" },
};

static void
test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct shca_model model = { .name = "before" };
		char error[256] = "";

		assert_int_equal(parse(&model, bad[i].line, error, sizeof(error)), -EINVAL);
		assert_string_equal(error, bad[i].error);
		assert_string_equal(model.name, "before");
	}
}

/** Whatever is written over a file's bytes: it is a model, or it is refused with words. */
static void
test_damage(void **state)
{
	static const char spare[] = "=# \n\t\r.0x-";
	struct shca_model model;
	uint32_t random = 1;
	unsigned int nb_good = 0;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		char text[4096], error[256] = "";
		size_t length;
		int ret;

		write_text(text, sizeof(text), "# damaged");
		length = strlen(text);
		for (unsigned int k = 0; k < 1 + i % 3; k++) {
			random = random * 1664525 + 1013904223;
			text[(random >> 8) % length] = random & 0x40
				? spare[(random >> 24) % (sizeof(spare) - 1)]
				: (char)(1 + (random >> 24) % 255);
		}
		ret = shca_model_parse(&model, text, error, sizeof(error));
		assert_true(ret == 0 || (ret == -EINVAL && error[0] != '\0'));
		nb_good += ret == 0;
	}
	assert_true(nb_good > 0 && nb_good < 20000);
}

/** @return 0 or a negative errno, of a file with these bytes */
static int
read_bytes(const void *bytes, size_t length, struct shca_model *model, char *error, size_t size)
{
	char path[] = "/tmp/model-test-XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_true(write(fd, bytes, length) == (ssize_t)length);
	close(fd);
	ret = shca_model_read(model, path, error, size);
	unlink(path);
	return ret;
}

static void
test_files(void **state)
{
	static char big[SHCA_MODEL_BYTES_MAX + 2];
	struct shca_model model;
	char text[4096], error[256];

	(void)state;
	write_text(text, sizeof(text), "hw_ver = 5");
	assert_int_equal(read_bytes(text, strlen(text), &model, error, sizeof(error)), 0);
	assert_int_equal(model.hw_ver, 5);
	memset(big, '\n', sizeof(big));
	assert_int_equal(read_bytes(big, sizeof(big), &model, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "no text of up to 65536 bytes");
	assert_int_equal(read_bytes("a\0b", 3, &model, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "no text of up to 65536 bytes");
	assert_int_equal(shca_model_read(&model, "/nowhere/x", error, sizeof(error)), -ENOENT);
	assert_string_equal(error, "No such file or directory");
	assert_int_equal(shca_model_read(&model, "/", error, sizeof(error)), -EISDIR);
}

static void
test_help_names_what_can_be_said(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	shca_model_help(out);
	fclose(out);
	assert_non_null(strstr(text, "  max_qp = N\n        ibv_device_attr\n"));
	assert_non_null(strstr(text, "  fw_ver = A.B.C\n"));
	assert_non_null(strstr(text, "  min_inline = none|l2|network|transport\n"));
	assert_non_null(strstr(text, "  sw_parsing = none, or of sw_parsing csum lso\n"));
	assert_non_null(strstr(text, "contexts at a time (default: 65536)\n"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_least),
		cmocka_unit_test(test_every_form),
		cmocka_unit_test(test_what_no_softhca_has_is_left_out),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_help_names_what_can_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
