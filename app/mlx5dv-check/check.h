/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What works between two ports of one cable, by public ethdev functions and verbs queries alone.
 *
 *     rows ──> for each:  frames ── exchange ──> packets ──> pass, FAIL or not there, and why
 *                            (traffic)                          │
 *     port: both are started once, and closed at the end        └──> report: text and JSON
 *
 * One thread, and this program once more for the rows of other processes. All functions that return
 * int return 0 or a negative errno.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <infiniband/verbs.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#define CHECK_QUEUES      4
#define CHECK_LAST_QUEUE  (CHECK_QUEUES - 1)
#define CHECK_RING        512
#define CHECK_HEAD        64 /* bytes that are split off, where a row asks for it */
#define CHECK_BENCH_BURST 32
#define CHECK_NO_ROW      UINT32_MAX
#define CHECK_RETA_GROUPS (RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE)
#define CHECK_GOT_MAX     64  /**< packets that an exchange keeps */
#define CHECK_DEVARGS_MAX 400 /* bytes */

enum check_side {
	CHECK_PORT, /**< the one in question */
	CHECK_PEER,
	CHECK_NB_SIDES,
};

struct check_port {
	const char *name;    /**< as the user gave it: IBDEV, IBDEV/PORT or netdev:NAME */
	char ibdev[64];      /**< "": another driver's */
	unsigned int number; /**< of the verbs device's ports; 0: the driver finds it */
	uint16_t id;
	bool probed, started;
	uint16_t nb_queues;    /**< of either direction */
	bool has_interrupts;   /**< of receive queues */
	bool is_function;      /**< a virtual one: its host decides what comes to it */
	bool is_host;          /**< the physical function whose virtual one the peer is */
	int netdev_mtu;        /**< before the run; 0: there is no netdev */
	bool has_netdev_flags; /**< whether the following are known */
	short netdev_flags;    /**< before the run: of IFF_* those that a run may change */
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	uint64_t rx_offloads, tx_offloads; /**< as started */
	struct rte_mempool *pool;
	/** How the next start is to be. */
	struct rte_mempool *rx_pool;   /**< of receive queues; NULL: pool */
	struct rte_mempool *head_pool; /**< of each frame's head; NULL: it is not split */
	bool deferred;                 /**< the last queues of both directions wait */
	bool events;                   /**< of the link */
};

enum check_result {
	CHECK_PASS,
	CHECK_FAIL,
	CHECK_ABSENT, /**< the port does not claim it */
	CHECK_SEEN,   /**< an experiment: no answer is wrong */
	CHECK_NB_RESULTS,
};

#define CHECK_EVIDENCE_MAX   8
#define CHECK_EVIDENCE_BYTES 96

/** A packet as it came, for the report of a row that fails. */
struct check_evidence {
	enum check_side side;
	uint16_t queue;
	uint32_t length, hash;
	uint64_t ol_flags;
	uint16_t nb; /**< of the bytes that are kept */
	uint8_t bytes[CHECK_EVIDENCE_BYTES];
};

/** A run, and the row that is being run. */
struct check {
	struct check_port port[CHECK_NB_SIDES];
	unsigned int patience_ms; /**< that frames may take */
	uint32_t nb_packets;      /**< of the rows that count them */
	uint32_t row;             /**< number in this row's frames */
	const void *data;         /**< of several rows of one form, what this one is */
	uint16_t last_vlan;       /**< TCI of the frame that ends an exchange; 0: it has no tag */
	uint16_t tx_queue;        /**< on which the port sends */
	char *const *eal_args;    /**< those that the user gave, ended by NULL */
	bool is_shared;           /**< other processes can have the ports */
	bool lost;                /**< a frame that was expected did not come */
	char why[512];            /**< of a row that did not pass */
	/** The first packets of the row's latest exchange. */
	struct check_evidence evidence[CHECK_EVIDENCE_MAX];
	unsigned int nb_evidence;
};

/** A frame to send: UDP (or TCP) over IPv4, with a payload that is found again. 0: the default. */
struct check_frame {
	const struct rte_ether_addr *dst; /**< NULL: the receiver's */
	uint8_t src;                      /**< last byte of the source MAC */
	uint16_t size;                    /**< without FCS; 0: 128 */
	uint16_t vlan;                    /**< TCI of a tag in the frame; 0: none */
	uint16_t sport;
	uint16_t nb_segs; /**< mbufs; 0: 1 */
	bool tcp, bad_ip, bad_l4;
	bool no_l4;    /**< a UDP checksum of 0: there is none */
	bool fragment; /**< the first of two */
	bool vxlan;    /**< in a tunnel, whose headers of CHECK_TUNNEL bytes size includes */
	/** Of the mbuf, with what they need; checksums are left to the device. */
	uint64_t ol_flags;
	uint16_t tci;   /**< with RTE_MBUF_F_TX_VLAN */
	uint16_t segsz; /**< with RTE_MBUF_F_TX_TCP_SEG: payload of a segment */
};

/** Ethernet, IPv4, UDP and VXLAN. */
#define CHECK_TUNNEL                                                                               \
	(sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr) + \
		sizeof(struct rte_vxlan_hdr))

/** Flags of a frame in that tunnel, whose outer IP checksum the device completes. */
#define CHECK_TX_VXLAN                                                                             \
	(RTE_MBUF_F_TX_OUTER_IPV4 | RTE_MBUF_F_TX_OUTER_IP_CKSUM | RTE_MBUF_F_TX_TUNNEL_VXLAN)

/** A packet that has come. */
struct check_got {
	struct rte_mbuf *mbuf;
	uint16_t queue;
	uint32_t seq; /**< index of its frame */
};

struct check_gots {
	struct check_got got[CHECK_GOT_MAX];
	unsigned int nb;
};

struct check_row {
	const char *name;
	const char *shows; /**< what passes */
	enum check_result (*run)(struct check *check);
	const void *data; /**< check->data while it runs */
};

/** Of the files of rows/: each is ended by a row without name. */
extern const struct check_row check_rows_traffic[];
extern const struct check_row check_rows_offload[];
extern const struct check_row check_rows_bench[];
extern const struct check_row check_rows_event[];
extern const struct check_row check_rows_flow[];
extern const struct check_row check_rows_item[];
extern const struct check_row check_rows_action[];
extern const struct check_row check_rows_info[];
extern const struct check_row check_rows_port[];
extern const struct check_row check_rows_queue[];
extern const struct check_row check_rows_recovery[];
extern const struct check_row check_rows_setup[];
extern const struct check_row check_rows_tunnel[];
extern const struct check_row check_rows_process[];
extern const struct check_row check_rows_question[];
extern const struct check_row check_rows_bare[];
extern const struct check_row check_rows_cqe[];

/** Say why the row ends so. @return @p result */
enum check_result check_end(struct check *check, enum check_result result, const char *format, ...)
	__rte_format_printf(3, 4);
#define check_fail(check, ...)   check_end(check, CHECK_FAIL, __VA_ARGS__)
#define check_seen(check, ...)   check_end(check, CHECK_SEEN, __VA_ARGS__)
#define check_absent(check, ...) check_end(check, CHECK_ABSENT, __VA_ARGS__)

/** @{ @file rows_traffic.c: what other rows ask, too. */
/** @return whether a frame from the peer to @p dst (NULL: the port) came @p want times; otherwise
 * the row has failed. */
bool check_comes(struct check *check, const struct rte_ether_addr *dst, int want, const char *when);
/** Wait until both ports have a link. */
enum check_result check_links(struct check *check);
/** What a virtual function asks for in vain is its host's to give. @param good all came as expected
 * @param lost check->lost at that time */
enum check_result check_conclude(struct check *check, bool good, bool lost);
/** @} */

/** @{ @file rows_offload.c: what other rows ask, too. A packet begins @p at bytes into an mbuf, if
 * it is in a tunnel. */
/** Exchange one frame. @return the packet, which @p gots owns, or NULL and the row has failed */
struct rte_mbuf *check_one(struct check *check, enum check_side from,
	const struct check_frame *frame, struct check_gots *gots);
/** @return whether the port was started with all of @p offloads */
bool check_has_rx(const struct check *check, uint64_t offloads);
bool check_has_tx(const struct check *check, uint64_t offloads);
/** What the port says of right checksums and wrong ones. */
enum check_result check_rx_checksums(struct check *check, bool vxlan);
/** What the port makes of @p frames on the wire. */
enum check_result check_tx_checksums(
	struct check *check, const struct check_frame *frames, unsigned int nb);
/** @return Toeplitz of a packet's addresses and ports by @p key */
uint32_t check_toeplitz(const struct rte_mbuf *mbuf, uint32_t at, const uint8_t *key);
/** Send a frame of 1400 bytes of payload that is to be cut. */
enum check_result check_segmentation(struct check *check, bool vxlan);
/** @} */

/** @{ @file port.c */
/** Read @p name into *port. @return 0, or -EINVAL after a message */
int check_port_name(struct check_port *port, const char *name);
/** Create the port, which changes nothing for Linux. Complains on stderr. */
int check_port_probe(struct check_port *port, unsigned int side, const char *devargs);
/** Start it with all offloads that it has. Complains on stderr. */
int check_port_start(struct check_port *port, unsigned int side);
/** Configure and start it once more, after a stop or a reset. @return 0 or a negative errno */
int check_port_restart(struct check_port *port, unsigned int side);
/** Stop the port in question, and do so. */
int check_port_again(struct check_port *port);
/** Undo all, whatever was done. */
void check_port_close(struct check_port *port);
bool check_port_has_link(const struct check_port *port);
/** @return the name of the port's netdev if that is up, or NULL */
const char *check_port_netdev(const struct check_port *port, char *name);
/** @} */

/** @{ @file port.c, by sysfs */
/** Find out by sysfs which port is a function, and of whose. */
void check_kin_find(struct check *check);
/** @} */

/** @{ @file netdev.c */
/** Keep what the run may change of the port's netdev. */
void check_netdev_remember(struct check_port *port);
/** Set it back. Complains on stderr. */
void check_netdev_restore(const struct check_port *port);
/** @} */

/** @{ @file stop.c */
/** From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE end what waits, instead of the process. */
void check_stop_prepare(void);
/** @return the signal that has come, or 0 */
int check_stop_signal(void);
/** @return when a wait that begins now has to end, by the time that the program was running */
uint64_t check_wait_end(const struct check *check);
/** @return the same for a wait of @p ms milliseconds */
uint64_t check_wait_for(unsigned int ms);
/** @return whether to wait further, at most until @p end. To be asked often. */
bool check_wait_on(uint64_t end);
/** @} */

/** @{ @file traffic.c */
/** Make one frame. @return NULL: no mbuf */
struct rte_mbuf *check_traffic_frame(
	struct check *check, enum check_side from, const struct check_frame *frame, uint32_t seq);
/** @return whether @p mbuf is a frame of this row; then *seq is its number. */
bool check_traffic_is_ours(const struct check *check, const struct rte_mbuf *mbuf, uint32_t *seq);
/**
 * Send @p frames one after the other to the other port, and a last frame to its address; collect
 * what has come until then.
 * @param gots the caller frees it by check_traffic_free() in any case
 * @return -ENOMEM, -EIO: not all were sent, -ETIMEDOUT: the last frame did not come
 */
int check_traffic_exchange(struct check *check, enum check_side from,
	const struct check_frame *frames, uint32_t nb, struct check_gots *gots);
void check_traffic_free(struct check_gots *gots);
/** Keep a packet that came, should the row fail. */
void check_traffic_keep(
	struct check *check, enum check_side side, uint16_t queue, const struct rte_mbuf *mbuf);
/** Send one frame that the row waits for itself. @return -ENOMEM, -EIO: it was not sent */
int check_traffic_send(struct check *check, enum check_side from, const struct check_frame *frame);
/** @return how many packets of frame @p seq came on @p queue; UINT16_MAX: on any */
unsigned int check_traffic_count(const struct check_gots *gots, uint32_t seq, uint16_t queue);
/** Send nb_packets frames of one flow in bursts. @return 0: all came, in order and whole;
 * otherwise a message is in check->why. */
int check_traffic_flood(struct check *check, enum check_side from, uint16_t size);
/** The same with @p nb frames. */
int check_traffic_flood_some(struct check *check, enum check_side from, uint16_t size, uint32_t nb);
/** The same with frames that somebody returns to @p side. */
int check_traffic_echo(
	struct check *check, enum check_side side, const struct check_frame *frame, uint32_t nb);
/** @} */

/** @{ @file rows_process.c */
/** What the other process does until its standard input ends: return what comes on the last queue.
 * @param name PORT/MAC: the port, and where to send. @return the exit status */
int check_secondary_run(const char *name);
#define CHECK_PROCESS_ARGS 40
/** This program, once more. */
struct check_process {
	pid_t pid;
	int in, out; /**< its standard input, whose end ends it, and its output */
};
/** Append the EAL options of the user's that another process needs, for its drivers or with
 * @p memory to share ours, to the @p nb that there are, and NULL. */
void check_process_args(const struct check *check, bool memory, char **args, unsigned int nb);
/** Start it with pipes. @return 0 or a negative errno */
int check_process_start(char **args, struct check_process *process);
/** Wait for what it says. @return whether it said anything in time */
bool check_process_read(const struct check_process *process, char *text, size_t size);
/** End it. @return whether it ended well; one that hangs is killed */
bool check_process_end(struct check_process *process);
/** @} */

/** @{ @file rows_bench.c */
/** What such a process does: move packets between two ports, and print how many a second.
 * @return the exit status */
int check_loop_run(void);
/** @} */

/** @{ @file rule.c: rules of frames whose source ends with CHECK_RULE_SRC. */
#define CHECK_RULE_SRC 0x42
struct check_rule {
	uint32_t priority;
	bool passthru, drop, marked, flagged, counted;
	bool sampled;   /**< queue 1 has a copy of each */
	bool with_dst;  /**< it matches the port's address, too */
	uint16_t queue; /**< unless dropped */
};
#define CHECK_RULE_MARK 42
#define CHECK_RULES_MAX 2
/** @return NULL with errno in rte_errno: the row has failed, or it is absent (ENOTSUP). */
struct rte_flow *check_rule_create(struct check *check, const struct check_rule *rule);
/** The same for any rule. */
struct rte_flow *check_flow_create(struct check *check, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions);
/** Remove them. @return @p result, unless one could not be removed */
enum check_result check_rules_destroy(
	struct check *check, struct rte_flow **flows, unsigned int nb, enum check_result result);
/** Create all of @p rules, or none. @return CHECK_PASS, or how the row ends */
enum check_result check_rules_create(struct check *check, const struct check_rule *rules,
	unsigned int nb, struct rte_flow **flows);
/** @} */

/** @{ @file model.c */
/** @return the device, which the caller closes, or NULL with errno */
struct ibv_context *check_verbs_open(const char *ibdev);
/** Write what the device can do, as a model that others can run on. Verbs that are tried give no
 * traffic to anybody. */
int check_model_write(const char *ibdev, FILE *out);
/** The same to a file. Complains on stderr. */
int check_model_save(const char *ibdev, const char *path);
/** @} */

/** @{ @file clock.c */
enum check_clock {
	CHECK_CLOCK_COUNTER,         /**< completions are stamped by the free-running counter */
	CHECK_CLOCK_EITHER,          /**< by it, or by the real-time clock where a CQ asks */
	CHECK_CLOCK_REAL_TIME_ALONE, /**< the firmware has no other */
};
/** Find out by a queue of a moment. @return 0 or an errno */
int check_clock_find(struct ibv_context *ctx, enum check_clock *clock);
/** @} */

/** @{ @file traffic.c, by the ports' counters */
struct check_losses {
	struct rte_eth_stats before[CHECK_NB_SIDES];
	bool is_known[CHECK_NB_SIDES];
};
void check_losses_begin(const struct check *check, struct check_losses *losses);
/** Add to why the row fails where packets have gone that were sent since then. */
void check_losses_explain(
	struct check *check, enum check_side from, const struct check_losses *losses);
/** @} */

/** @{ @file input.c: each complains on stderr. */
/** @return whether --ibdev and --peer are two by their names */
bool check_input_has_two_ends(const struct check *check);
/** @return whether the ports, which are probed, are two for Linux */
bool check_input_peer_is_other(const struct check *check);
bool check_input_can_write(const char *path);
/** @return whether both ports, which are started, have links, after some patience */
bool check_input_has_links(struct check *check);
/** @} */

/** @{ @file versions.c */
struct check_versions {
	char driver_file[256]; /**< where the port's burst functions are */
	char netdev_driver[80];
};
void check_versions_rdma_core(char *text, size_t size);
void check_versions_port(const struct check_port *port, struct check_versions *versions);
/** @} */

/** @{ @file report.c */
struct check_report {
	FILE *json; /**< or NULL */
	unsigned int count[CHECK_NB_RESULTS];
	bool has_row;
	int stopped; /**< by which signal; 0: it was not */
};
int check_report_open(struct check_report *report, const char *json, const struct check *check);
void check_report_row(struct check_report *report, const struct check *check,
	const struct check_row *row, enum check_result result);
/** The row was cut short by a signal, so it has no result. */
void check_report_stop(struct check_report *report, const struct check *check,
	const struct check_row *row, int signal);
/** @return the exit status */
int check_report_close(struct check_report *report);
/** @} */

#endif /* CHECK_H */
