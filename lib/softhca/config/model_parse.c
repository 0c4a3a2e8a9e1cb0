/* SPDX-License-Identifier: BSD-3-Clause */
/* Models from text. Keys are named as the fields of verbs and direct verbs that tell of them. */
#include "config/model_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "base/refuse.h"
#include "base/text.h"

struct context {
	struct shca_model *model;
	struct shca_refusal refusal;
};

/** A word of a value, and what it stands for. */
struct word {
	const char *name;
	uint64_t bits;
	bool absent; /**< cards may have it, and no softhca does */
};

struct key {
	const char *name;
	const char *help;
	const char *preset; /**< NULL: it must be given */
	int (*parse)(const struct context *ctx, const struct key *key, char *value);
	size_t offset, bytes;     /**< of the field */
	uint64_t min, max;        /**< of numbers; length of texts */
	uint64_t most;            /**< what softhca has at most: a higher number is left out */
	const struct word *words; /**< ended by a row without name */
};

static void
leave_out(const struct context *ctx, const struct key *key, const char *value)
{
	shca_text_append(ctx->model->left_out, sizeof(ctx->model->left_out), "%s%s %s",
		ctx->model->left_out[0] == '\0' ? "" : ", ", key->name, value);
}

static void
store(const struct context *ctx, const struct key *key, uint64_t value)
{
	void *field = (uint8_t *)ctx->model + key->offset;
	const uint32_t value32 = (uint32_t)value;
	const uint16_t value16 = (uint16_t)value;
	const uint8_t value8 = (uint8_t)value;

	switch (key->bytes) {
	case sizeof(uint64_t):
		memcpy(field, &value, sizeof(value));
		break;
	case sizeof(uint32_t):
		memcpy(field, &value32, sizeof(value32));
		break;
	case sizeof(uint16_t):
		memcpy(field, &value16, sizeof(value16));
		break;
	default:
		memcpy(field, &value8, sizeof(value8));
	}
}

static int
parse_text(const struct context *ctx, const struct key *key, char *value)
{
	if (strlen(value) >= key->bytes)
		return shca_refuse(&ctx->refusal, "longer than %zu bytes", key->bytes - 1);
	for (const char *c = value; *c != '\0'; c++)
		if (!isprint((unsigned char)*c))
			return shca_refuse(&ctx->refusal, "a byte that is no printable character");
	memcpy((uint8_t *)ctx->model + key->offset, value, strlen(value));
	return 0;
}

static int
parse_number(const struct context *ctx, const struct key *key, char *value)
{
	uint64_t number;

	if (!shca_text_number(value, 0, key->max, &number) || number < key->min)
		return shca_refuse(&ctx->refusal, "'%s' is no number from %llu to %llu", value,
			(unsigned long long)key->min, (unsigned long long)key->max);
	if (number > key->most) {
		leave_out(ctx, key, value);
		number = key->most;
	}
	store(ctx, key, number);
	return 0;
}

static const struct word *
find_word(const struct word *words, const char *name)
{
	while (words->name != NULL && strcmp(words->name, name) != 0)
		words++;
	return words->name != NULL ? words : NULL;
}

static int
refuse_word(const struct context *ctx, const struct key *key, const char *name)
{
	char names[256] = "";

	for (const struct word *word = key->words; word->name != NULL; word++)
		shca_text_append(
			names, sizeof(names), "%s%s", names[0] == '\0' ? "" : ", ", word->name);
	return shca_refuse(&ctx->refusal, "no '%s'; there are %s", name, names);
}

/** One word. */
static int
parse_choice(const struct context *ctx, const struct key *key, char *value)
{
	const struct word *word = find_word(key->words, value);

	if (word == NULL)
		return refuse_word(ctx, key, value);
	store(ctx, key, word->bits);
	return 0;
}

/** Words between spaces, or "none". */
static int
parse_set(const struct context *ctx, const struct key *key, char *value)
{
	uint64_t bits = 0;

	if (strcmp(value, "none") == 0)
		return 0;
	for (char *name = strtok_r(value, " \t", &value); name != NULL;
		name = strtok_r(NULL, " \t", &value)) {
		const struct word *word = find_word(key->words, name);

		if (word == NULL)
			return refuse_word(ctx, key, name);
		if (word->absent)
			leave_out(ctx, key, name);
		else
			bits |= word->bits;
	}
	store(ctx, key, bits);
	return 0;
}

/** "16.35.2000" as the kernel's u64 of ibv_query_device(). */
static int
parse_version(const struct context *ctx, const struct key *key, char *value)
{
	uint64_t version = 0, part;
	char *rest = value, *text;
	unsigned int nb = 0;

	while ((text = strsep(&rest, ".")) != NULL) {
		if (++nb > 3 || !shca_text_number(text, 10, UINT16_MAX, &part))
			return shca_refuse(
				&ctx->refusal, "not three numbers with dots between them");
		version = version << 16 | part;
	}
	if (nb != 3)
		return shca_refuse(&ctx->refusal, "not three numbers with dots between them");
	/* major << 32 | minor << 16 | sub */
	store(ctx, key, version);
	return 0;
}

static const struct word yes_no[] = { { "no", 0 }, { "yes", 1 }, { NULL } };

static const struct word clock_sets[] = {
	{ "no", SHCA_CLOCKS_FREE_RUNNING },
	{ "yes", SHCA_CLOCKS_BOTH },
	{ "only", SHCA_CLOCKS_REAL_ONLY },
	{ NULL },
};

static const struct word inline_modes[] = {
	{ "none", SHCA_MIN_INLINE_NONE },
	{ "l2", SHCA_MIN_INLINE_L2 },
	{ "network", SHCA_MIN_INLINE_NETWORK },
	{ "transport", SHCA_MIN_INLINE_TRANSPORT },
	{ NULL },
};

static const struct word hash_fields[] = {
	{ "src_ipv4", IBV_RX_HASH_SRC_IPV4 },
	{ "dst_ipv4", IBV_RX_HASH_DST_IPV4 },
	{ "src_ipv6", IBV_RX_HASH_SRC_IPV6 },
	{ "dst_ipv6", IBV_RX_HASH_DST_IPV6 },
	{ "src_port_tcp", IBV_RX_HASH_SRC_PORT_TCP },
	{ "dst_port_tcp", IBV_RX_HASH_DST_PORT_TCP },
	{ "src_port_udp", IBV_RX_HASH_SRC_PORT_UDP },
	{ "dst_port_udp", IBV_RX_HASH_DST_PORT_UDP },
	{ "ipsec_spi", IBV_RX_HASH_IPSEC_SPI, .absent = true },
	{ "inner", IBV_RX_HASH_INNER },
	{ NULL },
};

static const struct word multi_packet_forms[] = {
	{ "mpw", SHCA_MPW_OLD },
	{ "enhanced", SHCA_MPW_ENHANCED },
	{ NULL },
};

static const struct word tunnels[] = {
	{ "vxlan", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN },
	{ "gre", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE },
	{ "geneve", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE, .absent = true },
	{ "cw_mpls_over_gre", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE },
	{ "cw_mpls_over_udp", MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP },
	{ NULL },
};

static const struct word sw_parsing[] = {
	{ "sw_parsing", MLX5DV_SW_PARSING },
	{ "csum", MLX5DV_SW_PARSING_CSUM },
	{ "lso", MLX5DV_SW_PARSING_LSO },
	{ NULL },
};

static const struct word mini_formats[] = {
	{ "hash", MLX5DV_CQE_RES_FORMAT_HASH },
	{ "csum", MLX5DV_CQE_RES_FORMAT_CSUM },
	{ "csum_stridx", MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX },
	{ NULL },
};

#define FIELD(field) offsetof(struct shca_model, field), sizeof(((struct shca_model *)NULL)->field)
/* clang-format off */
#define TEXT(name, field, help) \
	{ name, help, NULL, parse_text, FIELD(field), 0, 0, 0, NULL }
#define NUMBER(name, field, preset, min, max, help) \
	{ name, help, preset, parse_number, FIELD(field), min, max, UINT64_MAX, NULL }
/** A card may have more than softhca. */
#define AT_MOST(name, field, preset, most, help) \
	{ name, help, preset, parse_number, FIELD(field), 0, UINT32_MAX, most, NULL }
#define WORD(name, field, preset, words, help) \
	{ name, help, preset, parse_choice, FIELD(field), 0, 0, 0, words }
#define SET(name, field, preset, words, help) \
	{ name, help, preset, parse_set, FIELD(field), 0, 0, 0, words }

static const struct key keys[] = {
	TEXT("name", name, "for messages"),
	TEXT("board", board, "board_id in sysfs"),
	NUMBER("vendor_part_id", pci_device_id, NULL, 1, UINT16_MAX, "PCI device"),
	NUMBER("vf_part_id", pci_vf_id, "0x101e", 1, UINT16_MAX, "PCI device of its virtual functions"),
	NUMBER("hw_ver", hw_ver, "0", 0, UINT8_MAX, "revision"),
	{ "module", "part number of the module in the port's cage, a QSFP28; or none", "SHCA-QSFP28-SR4", parse_text,
		FIELD(module), 0, 0, 0, NULL },
	{ "fw_ver", "firmware, MAJOR.MINOR.SUB", NULL, parse_version, FIELD(fw_ver), 0, 0, 0, NULL },

	NUMBER("max_qp", max_qp, NULL, 1, UINT32_MAX, "ibv_device_attr"),
	NUMBER("max_qp_wr", max_qp_wr, NULL, 1, 1u << 16, "ibv_device_attr"),
	NUMBER("max_sge", max_sge, NULL, 1, 62, "ibv_device_attr"),
	NUMBER("max_cq", max_cq, NULL, 1, UINT32_MAX, "ibv_device_attr"),
	NUMBER("max_cqe", max_cqe, NULL, 1, INT32_MAX, "ibv_device_attr"),
	NUMBER("max_mr", max_mr, NULL, 1, UINT32_MAX, "ibv_device_attr"),
	NUMBER("max_mr_size", max_mr_size, NULL, 1, UINT64_MAX, "bytes; ibv_device_attr"),
	NUMBER("max_pd", max_pd, NULL, 1, UINT32_MAX, "ibv_device_attr"),
	NUMBER("max_wq_type_rq", max_wq_type_rq, NULL, 1, UINT32_MAX, "ibv_device_attr_ex"),
	NUMBER("max_rwq_indirection_tables", max_rwq_ind_tables, NULL, 1, UINT32_MAX, "ibv_rss_caps"),
	NUMBER("max_rwq_indirection_table_size", max_rwq_ind_table_size, NULL, 1, 1u << 13,
		"ibv_rss_caps"), /* IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE */
	NUMBER("max_sq_desc_bytes", max_sq_desc_bytes, "1024", 64, 1024, "of a send WQE"),
	NUMBER("max_rq_desc_bytes", max_rq_desc_bytes, "512", 16, 512, "of a receive WQE"),
	NUMBER("max_send_wqebb", max_send_wqebb, "32768", 1, 1u << 15, "64-byte blocks of a send queue"),
	NUMBER("max_recv_wr", max_recv_wr, "32768", 1, 1u << 15, "WQEs of a receive queue"),

	WORD("cvlan_stripping", cvlan_strip, NULL, yes_no, "raw_packet_caps"),
	WORD("scatter_fcs", scatter_fcs, NULL, yes_no, "raw_packet_caps"),
	WORD("ip_csum", checksum, NULL, yes_no, "raw_packet_caps, both ways"),
	WORD("cvlan_insertion", cvlan_insert, "yes", yes_no, "the Ethernet segment's"),
	WORD("min_inline", min_inline, "none", inline_modes, "headers that a send WQE must carry"),
	SET("rx_hash_fields", rx_hash_fields, NULL, hash_fields, "ibv_rss_caps"),
	NUMBER("max_tso", max_tso_bytes, NULL, 0, 1u << 18, "bytes, 0: none; ibv_tso_caps"),
	SET("multi_pkt_send", multi_pkt_send, NULL, multi_packet_forms, "flags of mlx5dv_context"),
	SET("tunnel_offloads", tunnel_offloads, NULL, tunnels, "mlx5dv_context.tunnel_offloads_caps"),
	SET("sw_parsing", sw_parsing, NULL, sw_parsing, "mlx5dv_sw_parsing_caps"),
	AT_MOST("cqe_comp_max", cqe_comp_max, NULL, 64, "mini CQEs of a block, 0: none; mlx5dv_cqe_comp_caps"),
	SET("cqe_comp_formats", cqe_comp_formats, NULL, mini_formats, "mlx5dv_cqe_comp_caps"),
	WORD("cqe_128b_pad", cqe_128b_pad, NULL, yes_no, "flags of mlx5dv_context"),
	NUMBER("min_wqe_log_strides", min_log_strides, NULL, 0, SHCA_MAX_LOG_STRIDES,
		"0: no striding queues; mlx5dv_striding_rq_caps"),
	NUMBER("rate_limit_max_kbps", max_rate_kbps, NULL, 0, UINT32_MAX, "0: no pacing; ibv_packet_pacing_caps"),
	WORD("rate_limit_bursts", paced_bursts, "no", yes_no, "the size of a paced burst can be given"),
	WORD("real_time_clock", clocks, "no", clock_sets, "yes: rtc=on may be given; only: there is no other"),
	WORD("dump_wqe", dump, "no", yes_no, "send queues take DUMP WQEs"),
	AT_MOST("max_dm_size", max_dm_bytes, NULL, 1u << 18, "bytes of device memory; ibv_device_attr_ex"),

	WORD("dont_trap", dont_trap, "yes", yes_no, "nic_rx_multi_path_tirs"),
	WORD("sniffer", sniffer, "yes", yes_no, "allow_sniffer_and_nic_rx_shared_tir"),
	WORD("inner_ip_version", inner_ip_version, "yes", yes_no, "ft_field_support"),
	NUMBER("flow_counters", flow_counters, "32768", 0, UINT32_MAX, "at a time"),
	AT_MOST("modify_header_actions", modify_actions, "0", 16, "of a context, 0: none"),
	AT_MOST("packet_reformat_bytes", encap_bytes, "0", 128, "of a context, 0: none"),
	NUMBER("modify_headers", max_modify_headers, "65536", 0, UINT32_MAX, "contexts at a time"),
	NUMBER("packet_reformats", max_reformats, "65536", 0, UINT32_MAX, "contexts at a time"),
	WORD("reformat_and_fwd_to_table", reformat_and_fwd_to_table, "no", yes_no, "an entry may do both"),
	WORD("reformat_and_modify_action", reformat_and_modify_action, "no", yes_no, "an entry may do both"),
	NUMBER("fte_destinations", max_fte_destinations, "4096", 1, UINT32_MAX, "of an entry"),
	NUMBER("fte_counters", max_fte_counters, "16", 1, UINT32_MAX, "of an entry"),
};
/* clang-format on */
#define NB_KEYS (sizeof(keys) / sizeof(keys[0]))

static bool
is_power_of_two(uint32_t value)
{
	return (value & (value - 1)) == 0;
}

/** libmlx5 rounds sizes up to powers of two and compares afterwards. */
static bool
has_odd_limits(const struct shca_model *model)
{
	return !is_power_of_two(model->max_qp_wr) || !is_power_of_two(model->max_send_wqebb) ||
		!is_power_of_two(model->max_recv_wr) ||
		!is_power_of_two(model->max_rwq_ind_table_size) ||
		!is_power_of_two(model->max_cqe + 1);
}

/** A receive WQE has max_sge data segments of 16 bytes, a send WQE a control and an Ethernet
 * segment more, which take 48. */
static bool
has_long_wqes(const struct shca_model *model)
{
	return model->max_sge * 16 > model->max_rq_desc_bytes ||
		48 + model->max_sge * 16 > model->max_sq_desc_bytes;
}

static bool
has_half_compression(const struct shca_model *model)
{
	return (model->cqe_comp_max == 0) != (model->cqe_comp_formats == 0);
}

static bool
has_half_parser(const struct shca_model *model)
{
	return model->sw_parsing != 0 && (model->sw_parsing & MLX5DV_SW_PARSING) == 0;
}

static bool
has_bursts_alone(const struct shca_model *model)
{
	return model->paced_bursts && model->max_rate_kbps == 0;
}

static bool
has_few_strides(const struct shca_model *model)
{
	return model->min_log_strides != 0 && model->min_log_strides < 3;
}

static bool
has_part_of_a_page(const struct shca_model *model)
{
	return model->max_dm_bytes % 4096 != 0;
}

static bool
has_pairs_without_actions(const struct shca_model *model)
{
	return (model->reformat_and_modify_action && model->modify_actions == 0) ||
		((model->reformat_and_modify_action || model->reformat_and_fwd_to_table) &&
			model->encap_bytes == 0);
}

/** Combinations that no device has. */
static const struct {
	bool (*is_broken)(const struct shca_model *model);
	const char *message;
} rules[] = {
	{ has_odd_limits,
		"max_qp_wr, max_send_wqebb, max_recv_wr, max_rwq_indirection_table_size "
		"and max_cqe + 1 must be powers of two" },
	{ has_long_wqes,
		"max_sge segments of 16 bytes must fit in max_rq_desc_bytes, and with 48 "
		"bytes more in max_sq_desc_bytes" },
	{ has_half_compression, "cqe_comp_max and cqe_comp_formats go together" },
	{ has_half_parser, "sw_parsing csum and lso need sw_parsing" },
	{ has_bursts_alone, "rate_limit_bursts needs a rate_limit_max_kbps" },
	{ has_few_strides, "min_wqe_log_strides is 0 or from 3 on" },
	{ has_part_of_a_page, "max_dm_size must be whole pages of 4096 bytes" },
	{ has_pairs_without_actions,
		"reformat_and_* need packet_reformat_bytes, and with "
		"modify_action modify_header_actions" },
};

static char *
trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r");
	length = strlen(text);
	while (length != 0 && strchr(" \t\r", text[length - 1]) != NULL)
		text[--length] = '\0';
	return text;
}

static int
parse_line(struct context *ctx, char *line, bool *seen)
{
	char *value = strchr(line, '='), *name;

	if (value == NULL)
		return shca_refuse(&ctx->refusal, "no 'KEY = VALUE'");
	*value++ = '\0';
	name = trim(line);
	value = trim(value);
	for (size_t i = 0; i < NB_KEYS; i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		ctx->refusal.key = keys[i].name;
		if (seen[i])
			return shca_refuse(&ctx->refusal, "given twice");
		if (value[0] == '\0')
			return shca_refuse(&ctx->refusal, "needs a value");
		seen[i] = true;
		return keys[i].parse(ctx, &keys[i], value);
	}
	return shca_refuse(&ctx->refusal, "no key '%s'; softhca help lists them", name);
}

static int
parse_lines(struct context *ctx, char *text, bool *seen)
{
	int ret = 0;

	for (char *line; ret == 0 && (line = strsep(&text, "\n")) != NULL;) {
		ctx->refusal.line++;
		ctx->refusal.key = NULL;
		line[strcspn(line, "#")] = '\0';
		line = trim(line);
		if (line[0] != '\0')
			ret = parse_line(ctx, line, seen);
	}
	return ret;
}

/** What was not given, and whether all of it together can be. */
static int
complete(struct context *ctx, const bool *seen)
{
	char preset[32];
	int ret = 0;

	ctx->refusal.line = 0;
	for (size_t i = 0; i < NB_KEYS && ret == 0; i++) {
		ctx->refusal.key = keys[i].name;
		if (seen[i])
			continue;
		if (keys[i].preset == NULL)
			return shca_refuse(&ctx->refusal, "is not given");
		snprintf(preset, sizeof(preset), "%s", keys[i].preset);
		ret = keys[i].parse(ctx, &keys[i], preset);
	}
	ctx->refusal.key = NULL;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && ret == 0; i++)
		if (rules[i].is_broken(ctx->model))
			ret = shca_refuse(&ctx->refusal, "%s", rules[i].message);
	return ret;
}

int
shca_model_parse(struct shca_model *model, const char *text, char *error, size_t error_size)
{
	struct shca_model parsed;
	struct context ctx = { &parsed, { .text = error, .size = error_size } };
	bool seen[NB_KEYS] = { false };
	char *copy = strdup(text);
	int ret;

	if (copy == NULL) {
		shca_refuse(&ctx.refusal, "no memory");
		return -ENOMEM;
	}
	/* Padding included: models are compared as bytes. */
	memset(&parsed, 0, sizeof(parsed));
	ret = parse_lines(&ctx, copy, seen);
	if (ret == 0)
		ret = complete(&ctx, seen);
	free(copy);
	if (ret == 0)
		memcpy(model, &parsed, sizeof(*model));
	return ret;
}

int
shca_model_read(struct shca_model *model, const char *path, char *error, size_t error_size)
{
	const struct shca_refusal refusal = { .text = error, .size = error_size };
	char *text = NULL;
	size_t length = 0;
	FILE *file = fopen(path, "re");
	int ret = file == NULL ? -errno : 0;

	if (ret == 0) {
		text = calloc(1, SHCA_MODEL_BYTES_MAX + 1);
		ret = text == NULL ? -ENOMEM : 0;
	}
	if (ret == 0) {
		length = fread(text, 1, SHCA_MODEL_BYTES_MAX + 1, file);
		ret = ferror(file) ? -errno : 0;
	}
	if (ret != 0)
		shca_refuse(&refusal, "%s", strerror(-ret));
	else if (length > SHCA_MODEL_BYTES_MAX || memchr(text, '\0', length) != NULL)
		ret = shca_refuse(&refusal, "no text of up to %d bytes", SHCA_MODEL_BYTES_MAX);
	else
		ret = shca_model_parse(model, text, error, error_size);
	free(text);
	if (file != NULL)
		fclose(file);
	return ret;
}

static void
print_words(FILE *out, const struct key *key)
{
	if (key->parse == parse_set)
		fprintf(out, "none, or of");
	for (const struct word *word = key->words; word->name != NULL; word++)
		fprintf(out, "%s%s",
			key->parse == parse_set      ? " "
				: word == key->words ? ""
						     : "|",
			word->name);
}

void
shca_model_help(FILE *out)
{
	for (size_t i = 0; i < NB_KEYS; i++) {
		const struct key *key = &keys[i];

		fprintf(out, "  %s = ", key->name);
		if (key->words != NULL)
			print_words(out, key);
		else
			fprintf(out, "%s",
				key->parse == parse_number            ? "N"
					: key->parse == parse_version ? "A.B.C"
								      : "TEXT");
		fprintf(out, "\n        %s", key->help);
		if (key->preset != NULL)
			fprintf(out, " (default: %s)", key->preset);
		fprintf(out, "\n");
	}
}
