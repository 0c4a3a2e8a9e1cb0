/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The user's options: "--port K=V,..." parsed to plain structs, and the file that carries them
 * from the runner to the preloaded library. One row a key in options.c. No I/O but that file.
 */
#ifndef SHCA_CONFIG_OPTIONS_H
#define SHCA_CONFIG_OPTIONS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/kernel.h"
#include "base/profile.h"
#include "config/model.h"
#include "strict/findings.h"

struct shca_wire_ops;

#define SHCA_PORTS_MAX 8
/** The environment variable that names the runner's directory: sysfs trees and the options file. */
#define SHCA_ENV_DIR "SOFTHCA_DIR"
/** The options file in that directory. */
#define SHCA_OPTIONS_FILE "options"

struct shca_wire_options {
	const struct shca_wire_ops *kind; /**< NULL: none */
	char arg[256];
	int fd; /**< inherited from the runner, or -1 */
};

struct shca_port_options {
	struct shca_wire_options wire;
	struct shca_wire_options kernel; /**< kind NULL: kernel=none */
	/** Of a function whose e-switch has a manager: the netdev of its representor; kind NULL:
	 * none. */
	struct shca_wire_options rep;
	struct shca_model model;
	char model_file[256]; /**< its absolute path; "": a model of the tree */
	uint8_t mac[6];
	uint32_t speed_mbps; /**< reported link speed */
	bool pace;
	uint32_t repeat;
	uint32_t delay_ms;
	bool is_vf;         /**< shares the wire with the VFs that name it */
	bool is_pf;         /**< the physical function of those VFs, in legacy mode */
	bool is_trusted;    /**< may be promiscuous and allmulti */
	bool checks_source; /**< sends from its own address only */
	/** Of a virtual function: its host's switch is in switchdev mode. Of another port: it is
	 * this host, and the port is the switch's manager. */
	bool is_switchdev;
	/** Of a virtual function: headers that its host demands in send WQEs; UNKNOWN: the model's.
	 */
	enum shca_min_inline min_inline;
	bool has_devx; /**< contexts may be DevX ones */
	bool has_rtc;  /**< a real-time clock */
	enum shca_kernel kernel_abi;
	enum shca_profile profile; /**< what rules may say */
};

struct shca_options {
	unsigned int nb_ports; /**< at least 1 once parsed */
	struct shca_port_options port[SHCA_PORTS_MAX];
	enum shca_strict strict;
	cpu_set_t cpus;          /**< where the runner was started: the device threads' CPUs */
	unsigned int nb_threads; /**< of the devices, at most; 0: by the number of CPUs */
};

/** Defaults: no port yet; cpus of this process. */
void shca_options_init(struct shca_options *options);
/**
 * Append one port from "K=V,K=V" ("" = all defaults).
 * @return 0, or -EINVAL/-E2BIG with @p error saying which key or value is wrong and what is
 * allowed.
 */
int shca_options_add_port(
	struct shca_options *options, const char *text, char *error, size_t error_size);
/** Print the keys of --port, their values and defaults, and the wires: from the rows, for help
 * texts. */
void shca_options_help(FILE *out);
/** Write to / read from FILE of the runner's directory. @return 0 or a negative errno. */
int shca_options_save(const struct shca_options *options, const char *path);
int shca_options_load(struct shca_options *options, const char *path);

#endif /* SHCA_CONFIG_OPTIONS_H */
