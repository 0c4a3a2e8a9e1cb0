/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Messages of communication management as management datagrams: InfiniBand Architecture
 * Specification volume 1, 13.4 (the header) and 12.6 to 12.11 (the messages). Pure functions on
 * bytes; a message has a member for each field that its kind or another one has.
 */
#ifndef SHCA_CM_MAD_H
#define SHCA_CM_MAD_H

#include <stddef.h>
#include <stdint.h>

/** Bytes of a management datagram (13.4.2). */
#define SHCA_MAD_BYTES 256
/** Bytes of a GID. */
#define SHCA_MAD_GID_BYTES 16
/** Room for private data: RTU and DREP have the most. */
#define SHCA_MAD_PRIVATE_MAX 224
/** Room for additional information of REJ, APR and SIDR_REP. */
#define SHCA_MAD_INFO_MAX 72

/** Attributes of class CommMgt (16.7.2): kinds of messages. */
enum shca_mad_kind {
	SHCA_MAD_REQ = 0x10,
	SHCA_MAD_MRA,
	SHCA_MAD_REJ,
	SHCA_MAD_REP,
	SHCA_MAD_RTU,
	SHCA_MAD_DREQ,
	SHCA_MAD_DREP,
	SHCA_MAD_SIDR_REQ,
	SHCA_MAD_SIDR_REP,
	SHCA_MAD_LAP,
	SHCA_MAD_APR,
	SHCA_MAD_KINDS_END,
};

/** Table 109: why a REJ is sent; those that are sent here. */
enum shca_mad_reason {
	SHCA_MAD_NO_RESOURCES = 3,
	SHCA_MAD_TIMEOUT = 4,
	SHCA_MAD_UNSUPPORTED = 5,
	SHCA_MAD_INVALID_COMM_ID = 6,
	SHCA_MAD_INVALID_SERVICE_ID = 8,
	SHCA_MAD_STALE = 10,
	SHCA_MAD_CONSUMER = 28,
	SHCA_MAD_VENDOR = 35, /**< Linux IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED */
};

/** Table 107: what an MRA is about, and table 108 what a REJ is. */
enum shca_mad_about {
	SHCA_MAD_ABOUT_REQ,
	SHCA_MAD_ABOUT_REP,
	SHCA_MAD_ABOUT_OTHER, /**< none (REJ), LAP (MRA) */
};

/** Table 35 and 12.6.5: transport service types of a REQ. */
enum shca_mad_transport {
	SHCA_MAD_RC,
	SHCA_MAD_UC,
	SHCA_MAD_RD,
	SHCA_MAD_EXTENDED, /**< see extended_transport; 1 is XRC */
};

/** Table 121: status of a SIDR_REP. */
enum shca_mad_sidr_status {
	SHCA_MAD_SIDR_SUCCESS,
	SHCA_MAD_SIDR_UNSUPPORTED,
	SHCA_MAD_SIDR_REJECTED,
	SHCA_MAD_SIDR_NO_QP,
};

/** Table 117: status of an APR. */
#define SHCA_MAD_APR_UNSUPPORTED 2

/** One message. Numbers in host order. */
struct shca_mad {
	uint16_t kind; /**< enum shca_mad_kind */
	uint16_t status;
	uint64_t tid;
	uint32_t local_id, remote_id; /**< the sender's and the receiver's; SIDR: RequestID */
	uint64_t service_id;
	uint64_t ca_guid;
	uint32_t qkey, qpn;
	uint32_t psn;  /**< at which the other side begins to send */
	uint32_t eecn; /**< of a REP: of an end-to-end context, or of a target of XRC */
	uint8_t responder_resources, initiator_depth;
	uint8_t remote_timeout, local_timeout; /**< of CM responses: 4.096 us * 2^n */
	uint8_t transport, extended_transport;
	uint8_t flow_control, retry_count, rnr_retry_count, max_cm_retries, srq;
	uint16_t pkey;
	uint8_t mtu; /**< 1 to 5: 256 to 4,096 */
	/** The path that a REQ or a LAP (alternate path) names. */
	uint16_t local_lid, remote_lid;
	uint8_t local_gid[SHCA_MAD_GID_BYTES], remote_gid[SHCA_MAD_GID_BYTES];
	uint32_t flow_label;
	uint8_t rate, traffic_class, hop_limit, sl, subnet_local, ack_timeout;
	uint8_t target_ack_delay, failover;
	uint8_t about;       /**< enum shca_mad_about */
	uint16_t reason;     /**< of a REJ; status of SIDR_REP and APR */
	uint8_t info_length; /**< of info that counts */
	uint8_t info[SHCA_MAD_INFO_MAX];
	uint8_t service_timeout;
	uint8_t private_data[SHCA_MAD_PRIVATE_MAX];
};

/** @return how much private data a kind of message has; 0: no such kind. */
size_t shca_mad_private_bytes(uint16_t kind);
/** @return its name, or "?". */
const char *shca_mad_name(uint16_t kind);
/** Write all of a message of a known kind; fields that its kind does not have are not looked at. */
void shca_mad_write(const struct shca_mad *mad, uint8_t bytes[SHCA_MAD_BYTES]);
/**
 * Read one; members that its kind does not have become 0.
 * @return 0, or -EBADMSG: another length, version, class, method or kind.
 */
int shca_mad_read(const uint8_t *bytes, size_t length, struct shca_mad *mad);

#endif /* SHCA_CM_MAD_H */
