/* SPDX-License-Identifier: BSD-3-Clause */
/* From lines of /proc/PID/maps to mappings of this process. */
#include "keeper/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "keeper/message.h"

#define PAGE_BYTES 4096u
#define HUGE_BYTES (2u << 20) /* of anonymous hugepages */
/** Memory that must be shared is, in blocks of this size: queues' records lie side by side. An
 * allocator's mapping that may move on its own (mremap) is larger. */
#define BLOCK_BYTES (64u << 10)
/** Of the heap, which moves nowhere: few pieces, whatever else splits it (MADV_DONTFORK). */
#define HEAP_BLOCK_BYTES (2u << 20)

struct shca_memory_file {
	LIST_ENTRY(shca_memory_file) link;
	dev_t dev; /* as maps tells it, which is not fstat()'s on all file systems */
	ino_t ino;
	int fd;
	bool is_writable;
	uint64_t end; /* of what has moved there; 0: a file of the program's own */
};

/** A line of maps, and what of it is wanted. */
struct segment {
	uint64_t from, to, offset;
	char perms[5];
	unsigned int major, minor;
	ino_t ino;
	const char *name;
};

void
shca_memory_init(struct shca_memory *memory, pid_t pid, int pidfd)
{
	*memory = (struct shca_memory){ .pid = pid, .pidfd = pidfd };
	LIST_INIT(&memory->files);
}

/** @param moved those of memory that has moved alone */
static void
drop_files(struct shca_memory *memory, bool moved)
{
	struct shca_memory_file *file = LIST_FIRST(&memory->files), *next;

	for (; file != NULL; file = next) {
		next = LIST_NEXT(file, link);
		if (moved && file->end == 0)
			continue;
		LIST_REMOVE(file, link);
		close(file->fd);
		free(file);
	}
	shca_wanted_fini(&memory->wanted);
}

void
shca_memory_fini(struct shca_memory *memory)
{
	drop_files(memory, false);
}

static struct shca_memory_file *
add(struct shca_memory *memory, int fd, dev_t dev, ino_t ino, bool is_writable)
{
	struct shca_memory_file *file = malloc(sizeof(*file));

	if (file == NULL) {
		close(fd);
		return NULL;
	}
	*file = (struct shca_memory_file){
		.dev = dev,
		.ino = ino,
		.fd = fd,
		.is_writable = is_writable,
	};
	LIST_INSERT_HEAD(&memory->files, file, link);
	return file;
}

static struct shca_memory_file *
find(struct shca_memory *memory, dev_t dev, ino_t ino, bool write)
{
	struct shca_memory_file *file;

	LIST_FOREACH (file, &memory->files, link)
		if (file->ino == ino && file->dev == dev && (file->is_writable || !write))
			return file;
	return NULL;
}

int
shca_memory_add(struct shca_memory *memory, int fd, uint64_t end)
{
	struct shca_memory_file *file;
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return -EBADF;
	}
	file = find(memory, status.st_dev, status.st_ino, true);
	if (file != NULL)
		close(fd);
	else
		file = add(memory, fd, status.st_dev, status.st_ino, true);
	if (file == NULL)
		return -ENOMEM;
	file->end = end;
	return 0;
}

static bool
parse(char *line, struct segment *segment)
{
	int name = 0;
	unsigned long ino;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %lu %n", &segment->from,
		    &segment->to, segment->perms, &segment->offset, &segment->major,
		    &segment->minor, &ino, &name) != 7)
		return false;
	line[strcspn(line, "\n")] = '\0';
	segment->ino = ino;
	segment->name = line + name;
	return true;
}

static FILE *
open_maps(const struct shca_memory *memory)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)memory->pid);
	return fopen(path, "re");
}

/** The link that names a mapping's file whatever became of its path; for the privileged. */
static int
open_map_file(const struct shca_memory *memory, const struct segment *segment, int flags)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)memory->pid,
		segment->from, segment->to);
	return open(path, flags);
}

static bool
is_file(int fd, const struct segment *segment)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_ino == segment->ino &&
		status.st_dev == makedev(segment->major, segment->minor);
}

/** A program may have a file open more than once. @return whether this one can be mapped so */
static bool
is_open_for(int fd, int flags)
{
	const int have = fcntl(fd, F_GETFL);

	return have >= 0 && (have & O_PATH) == 0 &&
		((have & O_ACCMODE) == O_RDWR || (have & O_ACCMODE) == (flags & O_ACCMODE));
}

/** A descriptor of the program's: DPDK keeps those of its hugepages. */
static int
copy_descriptor(const struct shca_memory *memory, const struct segment *segment, int flags)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	struct stat status;
	int fd = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)memory->pid);
	dir = opendir(path);
	while (dir != NULL && fd < 0 && (entry = readdir(dir)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
			fstatat(dirfd(dir), entry->d_name, &status, 0) != 0 ||
			status.st_ino != segment->ino ||
			status.st_dev != makedev(segment->major, segment->minor))
			continue;
		fd = (int)syscall(SYS_pidfd_getfd, memory->pidfd, atoi(entry->d_name), 0);
		if (fd >= 0 && !is_open_for(fd, flags)) {
			close(fd);
			fd = -1;
		}
		/* Filters of containers know that call from Linux 5.10 on, or leave it to the
		 * privileged. */
		if (fd < 0)
			fd = openat(dirfd(dir), entry->d_name, flags);
	}
	if (dir != NULL)
		closedir(dir);
	return fd;
}

static int
open_path(const struct shca_memory *memory, const struct segment *segment, int flags)
{
	char path[PATH_MAX];
	int fd;

	if (segment->name[0] != '/' ||
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)memory->pid, segment->name) >=
			(int)sizeof(path))
		return -1;
	fd = open(path, flags | O_NONBLOCK);
	if (fd >= 0 && is_file(fd, segment))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static struct shca_memory_file *
find_file(struct shca_memory *memory, const struct segment *segment, bool write)
{
	const int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
	const dev_t dev = makedev(segment->major, segment->minor);
	struct shca_memory_file *file = find(memory, dev, segment->ino, write);
	int fd;

	if (file != NULL)
		return file;
	fd = open_map_file(memory, segment, flags);
	if (fd < 0)
		fd = copy_descriptor(memory, segment, flags);
	if (fd < 0)
		fd = open_path(memory, segment, flags);
	if (fd < 0)
		return NULL;
	return add(memory, fd, dev, segment->ino, write);
}

static bool
has_name(const struct segment *segment, const char *begin)
{
	return strncmp(segment->name, begin, strlen(begin)) == 0;
}

/** Memory without a name: nobody can open it but by the link. */
static bool
is_anonymous(const struct segment *segment)
{
	return segment->perms[3] == 'p' || segment->ino == 0 || has_name(segment, "/dev/zero");
}

static uint64_t
block_bytes(const struct segment *segment)
{
	if (has_name(segment, "/anon_hugepage"))
		return HUGE_BYTES;
	if (has_name(segment, "[heap]"))
		return HEAP_BLOCK_BYTES;
	/* The main thread's grows as long as its lowest page is what it was. */
	return has_name(segment, "[stack]") ? PAGE_BYTES : BLOCK_BYTES;
}

/** @return whether both are memory of the program's own of one kind. */
static bool
is_alike(const struct segment *segment, const struct segment *other)
{
	return strcmp(segment->perms, other->perms) == 0 &&
		strcmp(segment->name, other->name) == 0 && segment->ino == other->ino;
}

/** Lines alike that touch, and the line right below them. */
struct run {
	uint64_t from, to;
	struct segment below;
};

/** Find the lines alike that touch, of which one has @p address; or that line alone. */
static struct run
find_run(struct shca_memory *memory, const struct segment *segment, uint64_t address, bool joins)
{
	FILE *maps = open_maps(memory);
	struct segment other, last = { 0 };
	struct run run = { 0 };
	char *line = NULL;
	size_t size = 0;

	while (maps != NULL && getline(&line, &size, maps) > 0 && parse(line, &other)) {
		const bool goes_on = joins && is_alike(segment, &other) && other.from == run.to;

		if (!goes_on && address < run.to)
			break;
		if (!goes_on && is_alike(segment, &other))
			run = (struct run){ .from = other.from, .below = last };
		if (is_alike(segment, &other))
			run.to = other.to;
		last = other;
		last.name = "";
	}
	free(line);
	if (maps != NULL)
		fclose(maps);
	return run;
}

/** What has moved from the heap before goes on in the same file: that stays one mapping. Not so
 * other memory, which may grow on its own (mremap), with pages that follow in its file. */
static void
choose_file(struct shca_memory *memory, const struct segment *segment, const struct run *run,
	struct shca_memory_range *range)
{
	const struct segment *below = &run->below;
	const struct shca_memory_file *file;

	range->fd = -1;
	range->offset = 0;
	if (!has_name(segment, "[heap]") || below->to != range->start || below->perms[3] != 's')
		return;
	file = find(memory, makedev(below->major, below->minor), below->ino, true);
	if (file == NULL || file->end != below->offset + (below->to - below->from))
		return;
	range->fd = file->fd;
	range->offset = file->end;
}

/** Leave out the first and the last page of a mapping if they are not wanted: there the C library
 * has an arena's state and a thread's, and a child of fork() writes to both (keeper/wanted.h). */
static void
spare_ends(const struct run *run, uint64_t wanted, uint64_t end, struct shca_memory_range *range)
{
	if (range->start == run->from && wanted >= run->from + PAGE_BYTES) {
		range->start += PAGE_BYTES;
		range->length -= PAGE_BYTES;
	}
	if (range->start + range->length == run->to && end <= run->to - PAGE_BYTES)
		range->length -= PAGE_BYTES;
}

/** Choose what of private memory is to be shared for what is wanted of a segment. */
static void
choose_range(struct shca_memory *memory, const struct segment *segment, uint64_t wanted,
	uint64_t end, struct shca_memory_range *range)
{
	const uint64_t block = block_bytes(segment);
	const uint64_t first = wanted / block * block, last = (end + block - 1) / block * block;
	/* Of the heap and of hugepages the lines are one mapping: libibverbs parts them
	 * (MADV_DONTFORK). Others that touch are a thread's stack and an arena, say. */
	struct run run = find_run(memory, segment, wanted, block != BLOCK_BYTES);

	if (run.from > wanted || run.to < end) /* it has changed meanwhile */
		run = (struct run){ .from = segment->from, .to = segment->to };
	range->start = first < run.from ? run.from : first;
	range->length = (last > run.to ? run.to : last) - range->start;
	if (block == BLOCK_BYTES)
		spare_ends(&run, wanted, end, range);
	range->prot = PROT_READ | (segment->perms[1] == 'w' ? PROT_WRITE : 0) |
		(segment->perms[2] == 'x' ? PROT_EXEC : 0);
	choose_file(memory, segment, &run, range);
}

/** @return 1: some has moved; 0: none has; -1: unknown, as nothing is mapped or maps cannot be read
 */
static int
find_moved(const struct shca_memory *memory, uint64_t start, uint64_t length)
{
	FILE *maps = open_maps(memory);
	struct segment segment;
	char *line = NULL;
	size_t size = 0;
	int ret = -1;

	while (maps != NULL && ret != 1 && getline(&line, &size, maps) > 0)
		ret = parse(line, &segment) && segment.from < start + length &&
			segment.to > start && has_name(&segment, "/memfd:" SHCA_MESSAGE_MEMORY);
	if (ret == 0 && !feof(maps))
		ret = -1;
	free(line);
	if (maps != NULL)
		fclose(maps);
	return ret;
}

bool
shca_memory_has_moved(const struct shca_memory *memory, uint64_t start, uint64_t length)
{
	return find_moved(memory, start, length) == 1;
}

void
shca_memory_forget_moved(struct shca_memory *memory)
{
	if (find_moved(memory, 0, UINT64_MAX) == 0)
		drop_files(memory, true);
}

/** @return the size of the file's pages. */
static uint64_t
page_bytes(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 && status.f_type == HUGETLBFS_MAGIC
		? (uint64_t)status.f_bsize
		: PAGE_BYTES;
}

/** @return whether the file's memory may come to an end before its size does. */
static bool
is_limited(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 && status.f_blocks != 0 &&
		(status.f_type == TMPFS_MAGIC || status.f_type == HUGETLBFS_MAGIC);
}

/** A mapping in the making: it grows by segments. */
struct growth {
	uint64_t first; /**< the program's address of its first byte; 0: nothing yet */
	uint8_t *base;
	size_t bytes; /**< of address space */
	uint64_t end; /**< the program's address of its end */
};

/** Reserve addresses, the same as the program's within a page of any size. */
static bool
reserve(struct growth *growth, uint64_t first, uint64_t end, uint64_t page)
{
	const size_t bytes = (size_t)(end - first + 2 * page);
	uint8_t *start =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t base;

	if (start == MAP_FAILED)
		return false;
	base = ((uintptr_t)start + page - 1) / page * page;
	if (base != (uintptr_t)start)
		munmap(start, base - (uintptr_t)start);
	growth->first = first;
	growth->base = (uint8_t *)base;
	growth->bytes = bytes - (base - (uintptr_t)start);
	return true;
}

/** Have the pages now, as the kernel pins them: a full /dev/shm is the request's failure and
 * nobody's SIGBUS. Memory of no such file ends with the machine's. */
static int
populate(uint8_t *start, uint64_t bytes, int fd, bool write)
{
	if (!is_limited(fd) ||
		madvise(start, bytes, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0 ||
		errno == EINVAL) /* before Linux 5.14 */
		return 0;
	SHCA_WARN("the file system of %" PRIu64 " bytes of memory is full: %s", bytes,
		strerror(errno));
	return -EFAULT;
}

/** Map what is wanted of a segment. */
static int
grow(struct growth *growth, const struct segment *segment, const struct shca_memory_file *file,
	uint64_t from, uint64_t to, uint64_t end, bool write)
{
	const uint64_t page = page_bytes(file->fd);
	const uint64_t first = from / page * page, last = (to + page - 1) / page * page;

	if (growth->base == NULL && !reserve(growth, first, end, page))
		return -ENOMEM;
	/* Hugepages behind others: the space was not reserved for their size. */
	if (first < growth->first || last - growth->first > growth->bytes ||
		(uintptr_t)(growth->base + (first - growth->first)) % page != 0)
		return -ENOMEM;
	if (mmap(growth->base + (first - growth->first), last - first,
		    PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED | MAP_FIXED, file->fd,
		    (off_t)(segment->offset + (first - segment->from))) == MAP_FAILED)
		return errno == ENOMEM ? -ENOMEM : -EFAULT;
	growth->end = last;
	return populate(growth->base + (first - growth->first), last - first, file->fd, write);
}

/** Extend the mapping by one line. @return 0, or why the mapping is impossible. */
static int
take_line(struct shca_memory *memory, const struct segment *segment, struct growth *growth,
	uint64_t from, uint64_t end, bool write, struct shca_memory_range *range)
{
	const uint64_t to = segment->to < end ? segment->to : end;
	const struct shca_memory_file *file;
	int ret;

	if (segment->from > from || segment->perms[0] != 'r' ||
		(write && segment->perms[1] != 'w') ||
		has_name(segment, "/memfd:" SHCA_MEM_DEVICE_FILE))
		return -EFAULT;
	file = segment->perms[3] == 's' ? find_file(memory, segment, write) : NULL;
	if (file != NULL)
		return grow(growth, segment, file, from, to, end, write);
	if (is_anonymous(segment)) {
		choose_range(memory, segment, from, to, range);
		ret = shca_mem_leave_out_guards(
			memory->pid, from, to, &range->start, &range->length);
		return ret != 0 ? ret : -ERESTART;
	}
	SHCA_WARN(
		"process %d: no way to the file of its memory %s", (int)memory->pid, segment->name);
	return -EFAULT;
}

static int
take_maps(struct shca_memory *memory, FILE *maps, uint64_t address, uint64_t end, bool write,
	struct growth *growth, struct shca_memory_range *range)
{
	uint64_t covered = address;
	struct segment segment;
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	while (ret == 0 && covered < end && getline(&line, &size, maps) > 0) {
		if (!parse(line, &segment) || segment.to <= covered)
			continue;
		ret = take_line(memory, &segment, growth, covered, end, write, range);
		covered = segment.to;
	}
	free(line);
	return ret == 0 && covered < end ? -EFAULT : ret;
}

int
shca_memory_map(struct shca_memory *memory, uint64_t address, uint64_t length, bool write,
	struct shca_pin *pin, struct shca_memory_range *range)
{
	struct growth growth = { 0 };
	FILE *maps;
	int ret;

	*pin = (struct shca_pin){ 0 }; /* no address of the program's is one here */
	if (length == 0)
		return 0; /* the device refuses queues of no bytes */
	if (address + length < address)
		return -EFAULT;
	shca_wanted_add(&memory->wanted, address, address + length);
	maps = open_maps(memory);
	if (maps == NULL)
		return -EFAULT;
	ret = take_maps(memory, maps, address, address + length, write, &growth, range);
	fclose(maps);
	if (ret != 0) {
		if (growth.base != NULL)
			munmap(growth.base, growth.bytes);
		return ret;
	}
	*pin = (struct shca_pin){
		.start = growth.base + (address - growth.first),
		.map = growth.base,
		.map_bytes = growth.bytes,
	};
	return 0;
}
