/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Wire "pcap:IN[:OUT]": plays a capture and records the frames sent. As kernel side ("pcap:OUT") it
 * only records. IN may be empty. The capture plays from start() on, or a delay later, at its own
 * pace or as fast as the queues take it.
 */
#include "wire/kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <pcap/pcap.h>
#include "base/clock.h"
#include "base/log.h"

#define PCAP_BURST 32
#define SNAPLEN    65535

/** The capture being played. */
struct player {
	pcap_t *file; /**< NULL: no capture, or played to its end */
	char *path;
	bool is_playing; /**< start() was called */
	bool pace;
	uint32_t delay_ms;
	uint64_t start_ns;  /**< play from then on; 0: has begun */
	uint32_t repeat;    /**< rounds; 0: for ever */
	uint32_t nb_rounds; /**< begun */
	bool has_next;
	bool has_played; /**< a frame of this round */
	struct pcap_pkthdr next;
	const uint8_t *next_bytes; /**< libpcap's, valid until the next read */
	uint64_t next_ns;          /**< when it is due, CLOCK_MONOTONIC */
	uint64_t last_capture_ns;  /**< time stamp of the frame before */
	uint64_t nb_frames, nb_cut, nb_oversized;
};

struct pcap_wire {
	struct shca_wire wire;
	struct player in;
	pcap_t *out_format;
	pcap_dumper_t *out; /**< NULL: drops the frames sent */
	uint8_t bytes[PCAP_BURST][SHCA_FRAME_MAX];
};

/** Open the capture at its start. Regular files only: others could block the device thread. */
static int
open_in(struct player *in)
{
	char error[PCAP_ERRBUF_SIZE];
	struct stat status;
	pcap_t *file;

	if (stat(in->path, &status) != 0) {
		int ret = -errno;

		SHCA_ERR("pcap:%s: %s", in->path, strerror(-ret));
		return ret;
	}
	if (!S_ISREG(status.st_mode)) {
		SHCA_ERR("pcap:%s: not a regular file", in->path);
		return -EINVAL;
	}
	file = pcap_open_offline_with_tstamp_precision(in->path, PCAP_TSTAMP_PRECISION_NANO, error);
	if (file == NULL) {
		SHCA_ERR("pcap: cannot read %s: %s", in->path, error);
		return -EINVAL;
	}
	if (pcap_datalink(file) != DLT_EN10MB) {
		SHCA_ERR("pcap:%s: holds %s frames, not Ethernet", in->path,
			pcap_datalink_val_to_name(pcap_datalink(file)));
		pcap_close(file);
		return -EINVAL;
	}
	in->file = file;
	return 0;
}

static void
stop_playing(struct player *in)
{
	if (in->file != NULL)
		pcap_close(in->file);
	in->file = NULL;
	in->has_next = false;
	if (in->nb_cut != 0)
		SHCA_WARN("pcap:%s: %lu frames were cut when captured, and played so", in->path,
			(unsigned long)in->nb_cut);
	if (in->nb_oversized != 0)
		SHCA_WARN("pcap:%s: left out %lu frames that have not 1 to %d bytes", in->path,
			(unsigned long)in->nb_oversized, SHCA_FRAME_MAX);
	in->nb_cut = in->nb_oversized = 0;
}

/** Begin the next round at the end of the capture. @return false when all rounds are played. */
static bool
next_round(struct player *in)
{
	/* A capture without frames to play would repeat for ever in one call. */
	if (!in->has_played || (in->repeat != 0 && in->nb_rounds >= in->repeat))
		return false;
	pcap_close(in->file);
	in->file = NULL;
	if (open_in(in) != 0)
		return false;
	in->nb_rounds++;
	in->nb_frames = 0;
	in->has_played = false; /* somebody may have written another capture meanwhile */
	return true;
}

/** Read the next frame; it is due as long after the previous one as in the capture. */
static bool
read_next(struct player *in)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	uint64_t capture_ns;
	int ret;

	while (!in->has_next && in->file != NULL) {
		ret = pcap_next_ex(in->file, &header, &bytes);
		if (ret == PCAP_ERROR_BREAK ? !next_round(in) : ret != 1) {
			if (ret != PCAP_ERROR_BREAK)
				SHCA_ERR("pcap:%s: stopped after %lu frames: %s", in->path,
					(unsigned long)in->nb_frames, pcap_geterr(in->file));
			stop_playing(in);
			break;
		}
		if (ret != 1)
			continue;
		/* tv_usec has nanoseconds, as requested at open. */
		capture_ns = (uint64_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec;
		if (in->nb_frames++ != 0 && capture_ns > in->last_capture_ns)
			in->next_ns += capture_ns - in->last_capture_ns;
		in->last_capture_ns = capture_ns;
		if (header->caplen == 0 || header->caplen > SHCA_FRAME_MAX) {
			in->nb_oversized++;
			continue;
		}
		in->nb_cut += header->caplen < header->len;
		in->next = *header;
		in->next_bytes = bytes;
		in->has_next = in->has_played = true;
	}
	return in->has_next;
}

static int
open_out(struct pcap_wire *pcap, const char *path)
{
	struct stat in, out;

	if (pcap->in.path != NULL && stat(pcap->in.path, &in) == 0 && stat(path, &out) == 0 &&
		in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		SHCA_ERR("pcap:%s: cannot record into the file that is played", path);
		return -EINVAL;
	}
	pcap->out_format = pcap_open_dead(DLT_EN10MB, SNAPLEN);
	if (pcap->out_format == NULL)
		return -ENOMEM;
	pcap->out = pcap_dump_open(pcap->out_format, path);
	if (pcap->out == NULL) {
		SHCA_ERR("pcap: cannot record: %s", pcap_geterr(pcap->out_format));
		return -EIO;
	}
	/* Write the header now: the file is a valid capture even without frames. */
	pcap_dump_flush(pcap->out);
	return 0;
}

static void
pcap_wire_close(struct shca_wire *wire)
{
	struct pcap_wire *pcap = (struct pcap_wire *)wire;

	stop_playing(&pcap->in);
	free(pcap->in.path);
	if (pcap->out != NULL)
		pcap_dump_close(pcap->out);
	if (pcap->out_format != NULL)
		pcap_close(pcap->out_format);
	free(pcap);
}

/** Each round opens it anew, wherever the process is then: a keeper leaves its directory. */
static void
make_absolute(struct player *in)
{
	char *path, *here = in->path[0] != '/' ? getcwd(NULL, 0) : NULL;

	if (here != NULL && asprintf(&path, "%s/%s", here, in->path) >= 0) {
		free(in->path);
		in->path = path;
	}
	free(here);
}

static int
open_both(struct pcap_wire *pcap, const struct shca_wire_conf *conf)
{
	const char *colon = conf->is_kernel_side ? NULL : strchr(conf->arg, ':');
	size_t in_length = colon == NULL ? strlen(conf->arg) : (size_t)(colon - conf->arg);
	const char *out = conf->is_kernel_side ? conf->arg : colon == NULL ? "" : colon + 1;
	int ret = 0;

	if (!conf->is_kernel_side && in_length > 0) {
		pcap->in.path = strndup(conf->arg, in_length);
		if (pcap->in.path == NULL)
			return -ENOMEM;
		ret = open_in(&pcap->in);
		if (ret == 0)
			make_absolute(&pcap->in);
	}
	if (ret == 0 && out[0] != '\0')
		ret = open_out(pcap, out);
	return ret;
}

static int
pcap_wire_open(const struct shca_wire_conf *conf, struct shca_wire **wire)
{
	struct pcap_wire *pcap = calloc(1, sizeof(*pcap));
	int ret;

	if (pcap == NULL)
		return -ENOMEM;
	pcap->wire.ops = &shca_pcap_wire;
	pcap->in.pace = conf->pace;
	pcap->in.repeat = conf->repeat;
	pcap->in.delay_ms = conf->delay_ms;
	pcap->in.nb_rounds = 1;
	ret = open_both(pcap, conf);
	if (ret != 0) {
		pcap_wire_close(&pcap->wire);
		return ret;
	}
	*wire = &pcap->wire;
	return 0;
}

static void
pcap_wire_start(struct shca_wire *wire)
{
	struct player *in = &((struct pcap_wire *)wire)->in;

	if (in->is_playing)
		return;
	in->is_playing = true;
	in->next_ns = shca_clock_ns() + (uint64_t)in->delay_ms * 1000000;
	in->start_ns = in->delay_ms != 0 ? in->next_ns : 0;
	read_next(in);
}

static unsigned int
pcap_wire_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct pcap_wire *pcap = (struct pcap_wire *)wire;
	struct player *in = &pcap->in;
	unsigned int nb = 0;
	uint64_t now_ns;

	if (!in->is_playing || in->file == NULL)
		return 0;
	if (in->start_ns != 0 && shca_clock_ns() < in->start_ns)
		return 0;
	in->start_ns = 0;
	now_ns = in->pace ? shca_clock_ns() : UINT64_MAX;
	while (nb < nb_frames && nb < PCAP_BURST && read_next(in) && in->next_ns <= now_ns) {
		memcpy(pcap->bytes[nb], in->next_bytes, in->next.caplen);
		frames[nb] = (struct shca_frame){ pcap->bytes[nb], in->next.caplen, 0 };
		nb++;
		in->has_next = false;
	}
	read_next(in); /* for due_ns */
	return nb;
}

static uint64_t
pcap_wire_due_ns(const struct shca_wire *wire)
{
	const struct player *in = &((const struct pcap_wire *)wire)->in;

	if (!in->is_playing || in->file == NULL)
		return UINT64_MAX;
	if (in->start_ns != 0)
		return in->start_ns;
	/* Without pace a frame waits for receive WQEs only. */
	return in->pace && in->has_next ? in->next_ns : UINT64_MAX;
}

static bool
pcap_wire_is_patient(const struct shca_wire *wire)
{
	return !((const struct pcap_wire *)wire)->in.pace;
}

static unsigned int
pcap_wire_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct pcap_wire *pcap = (struct pcap_wire *)wire;
	struct pcap_pkthdr header;
	struct timespec now;

	if (pcap->out == NULL || nb_frames == 0)
		return nb_frames;
	clock_gettime(CLOCK_REALTIME, &now);
	header.ts.tv_sec = now.tv_sec;
	header.ts.tv_usec = now.tv_nsec / 1000;
	for (unsigned int i = 0; i < nb_frames; i++) {
		header.caplen = header.len = frames[i].length;
		pcap_dump((u_char *)pcap->out, &header, frames[i].bytes);
	}
	/* Flush each burst: the file has whole frames even if the program is killed. */
	if (pcap_dump_flush(pcap->out) != 0) {
		SHCA_ERR("pcap: recording stopped: %s", strerror(errno));
		pcap_dump_close(pcap->out);
		pcap->out = NULL;
	}
	return nb_frames;
}

static int
pcap_wire_fd(const struct shca_wire *wire)
{
	(void)wire;
	return -1;
}

const struct shca_wire_ops shca_pcap_wire = {
	.name = "pcap",
	.usage = "pcap:IN[:OUT]",
	.help = "plays the capture IN once a rule receives, and records what is sent in OUT; IN may be empty",
	.open = pcap_wire_open,
	.tx = pcap_wire_tx,
	.rx = pcap_wire_rx,
	.start = pcap_wire_start,
	.fd = pcap_wire_fd,
	.due_ns = pcap_wire_due_ns,
	.is_patient = pcap_wire_is_patient,
	.close = pcap_wire_close,
};
