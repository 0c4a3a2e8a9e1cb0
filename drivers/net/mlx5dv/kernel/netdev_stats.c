/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a netdev's statistics by ioctl: how many, their names, their values. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/ethtool.h>

#include <rte_common.h>

#include "netdev.h"
#include "netdev_stats.h"

/** More than any driver has: mlx5e has some 40 a channel and some 1000 others. */
#define NB_STATS_MAX 65536u

/**
 * Memory that ends at an inaccessible page. In each ioctl the kernel asks its driver again how many
 * statistics there are and copies that many, whatever room the caller has (net/ethtool/ioctl.c). If
 * there are more than before, the copy runs into that page and the ioctl fails with EFAULT.
 */
struct guarded {
	uint8_t *map;
	size_t map_size;
	void *data;
};

static int
guarded_alloc(struct guarded *mem, size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	size = RTE_ALIGN(size, sizeof(uint64_t));
	mem->map_size = RTE_ALIGN(size, page) + page;
	mem->map = mmap(
		NULL, mem->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem->map == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(mem->map + mem->map_size - page, page, PROT_NONE) != 0) {
		munmap(mem->map, mem->map_size);
		return -ENOMEM;
	}
	mem->data = mem->map + mem->map_size - page - size;
	return 0;
}

static void
guarded_free(struct guarded *mem)
{
	munmap(mem->map, mem->map_size);
}

static int
count(unsigned int ifindex, uint32_t *nb)
{
	union {
		struct ethtool_sset_info head;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} info = {
		.head = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS },
	};
	uint32_t counted;
	int ret;

	ret = mdv_netdev_ethtool(ifindex, &info);
	if (ret != 0)
		return ret;
	memcpy(&counted, info.room + sizeof(info.head), sizeof(counted));
	if (info.head.sset_mask == 0 || counted == 0)
		return -EOPNOTSUPP;
	if (counted > NB_STATS_MAX)
		return -E2BIG;
	*nb = counted;
	return 0;
}

/** Send the request; check that the answer has as many statistics as were counted. */
static int
ask(unsigned int ifindex, void *command, const uint32_t *nb_answered, uint32_t nb)
{
	int ret = mdv_netdev_ethtool(ifindex, command);

	if (ret == -EFAULT || (ret == 0 && *nb_answered != nb))
		return -EAGAIN;
	return ret;
}

static void
show(const struct ethtool_gstrings *names, const struct ethtool_stats *stats,
	mdv_netdev_stats_each_t each, void *arg)
{
	char name[ETH_GSTRING_LEN + 1] = { 0 };
	uint32_t i;

	for (i = 0; i < names->len; i++) {
		memcpy(name, &names->data[i * ETH_GSTRING_LEN], ETH_GSTRING_LEN);
		each(name, stats->data[i], arg);
	}
}

int
mdv_netdev_stats_read(unsigned int ifindex, mdv_netdev_stats_each_t each, void *arg)
{
	struct guarded name_mem, stat_mem;
	struct ethtool_gstrings *names;
	struct ethtool_stats *stats;
	uint32_t nb;
	int ret;

	ret = count(ifindex, &nb);
	if (ret != 0)
		return ret;
	ret = guarded_alloc(&name_mem, sizeof(*names) + (size_t)nb * ETH_GSTRING_LEN);
	if (ret != 0)
		return ret;
	ret = guarded_alloc(&stat_mem, sizeof(*stats) + nb * sizeof(stats->data[0]));
	if (ret != 0)
		goto free_names;
	names = name_mem.data;
	*names = (struct ethtool_gstrings){ ETHTOOL_GSTRINGS, ETH_SS_STATS, nb };
	stats = stat_mem.data;
	*stats = (struct ethtool_stats){ ETHTOOL_GSTATS, nb };
	ret = ask(ifindex, names, &names->len, nb);
	if (ret == 0)
		ret = ask(ifindex, stats, &stats->n_stats, nb);
	if (ret == 0)
		show(names, stats, each, arg);
	guarded_free(&stat_mem);
free_names:
	guarded_free(&name_mem);
	return ret;
}
