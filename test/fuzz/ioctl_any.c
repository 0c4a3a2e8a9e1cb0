/* SPDX-License-Identifier: BSD-3-Clause */
/* Any method, any command: what the tables of abi/ declare is what is asked for. */
#include <string.h>

#include "abi/entry/methods.h"
#include "check.h"
#include "ioctl.h"

static struct fuzz_input *const input = &world.input;

static uint32_t
length_of(uint16_t min, uint16_t max)
{
	uint8_t how = fuzz_input_byte(input);

	if (how < 0xc0)
		return min;
	if (how < 0xf0 || max == SHCA_ANY_BYTES)
		return min + (how & 63u);
	return max;
}

static void
add_in(struct request *request, const struct shca_attr_row *row)
{
	uint32_t length = length_of(row->min_bytes, row->max_bytes);
	uint8_t bytes[1024];

	if (row->kind == SHCA_ATTR_FLAGS)
		length = fuzz_input_byte(input) & 1 ? 4 : 8;
	if (row->kind == SHCA_ATTR_ENUM)
		length = row->enum_bytes[fuzz_input_byte(input) % row->nb_enums];
	if (length > sizeof(bytes))
		length = sizeof(bytes);
	world_fill(bytes, length);
	for (uint32_t i = 0; row->kind == SHCA_ATTR_HANDLES && i < length; i++)
		bytes[i] &= i % sizeof(uint32_t) == 0 ? 31 : 0;
	request_in(request, row->id, bytes, length);
	if (row->kind == SHCA_ATTR_ENUM)
		request->at->attrs[request->at->header.num_attrs - 1].attr_data.enum_data.elem_id =
			fuzz_input_byte(input) & 7;
}

static void
add_row(struct request *request, const struct shca_attr_row *row)
{
	switch (row->kind) {
	case SHCA_ATTR_OUT:
		request_out(request, row->id, length_of(row->min_bytes, row->max_bytes));
		break;
	case SHCA_ATTR_HANDLE:
	case SHCA_ATTR_DESTROY:
		request_handle(request, row->id, fuzz_input_byte(input) & 31);
		break;
	case SHCA_ATTR_FD:
		request_handle(request, row->id,
			world.nb_fds != 0 ? world.fds[fuzz_input_byte(input) % world.nb_fds] : -1);
		break;
	case SHCA_ATTR_NEW:
	case SHCA_ATTR_NEW_FD:
		request_handle(request, row->id, 0);
		break;
	default:
		add_in(request, row);
	}
}

/** What it made besides objects, which the file keeps, is the caller's to close. */
static void
keep_fds(const struct request *request, const struct shca_method *method)
{
	for (unsigned int i = 0; i < request->at->header.num_attrs; i++)
		for (unsigned int row = 0; row < method->nb_rows; row++)
			if (method->rows[row].id == request->at->attrs[i].attr_id &&
				method->rows[row].kind == SHCA_ATTR_NEW_FD)
				world_remember_fd((int)request->at->attrs[i].data_s64);
}

static void
run_method(uint16_t object, const struct shca_method *method)
{
	struct request request;
	unsigned int nb_rows = method->nb_rows;

	request_init(&request, object, method->id);
	for (unsigned int i = 0; i < nb_rows; i++) {
		uint8_t how = fuzz_input_byte(input);

		if (method->rows[i].is_mandatory ? how < 0xf8 : how >= 0x80)
			add_row(&request, &method->rows[i]);
	}
	if (fuzz_input_byte(input) >= 0xf0) /* once more, or one that there is not */
		request_handle(&request, fuzz_input_byte(input), 0);
	if (request_run(world.file[world.current], &request) == 0)
		keep_fds(&request, method);
}

void
requests_method(void)
{
	const struct shca_object_methods *object =
		&shca_methods_objects[fuzz_input_byte(input) % SHCA_METHODS_NB_OBJECTS];
	const struct shca_method *methods = object->methods;
	unsigned int nb = 0;

	while (methods[nb].rows != NULL)
		nb++;
	run_method(object->id, &methods[fuzz_input_byte(input) % nb]);
}

/** The one method of each object that takes nothing but what it destroys. */
void
requests_destroy(void)
{
	uint8_t which = fuzz_input_byte(input);
	uint8_t handle = fuzz_input_byte(input) & 31;
	struct request request;

	for (unsigned int i = 0; i < SHCA_METHODS_NB_OBJECTS; i++) {
		const struct shca_object_methods *object =
			&shca_methods_objects[(which + i) % SHCA_METHODS_NB_OBJECTS];
		const struct shca_method *methods = object->methods;

		for (; methods->rows != NULL; methods++) {
			if (methods->rows[0].kind != SHCA_ATTR_DESTROY)
				continue;
			request_init(&request, object->id, methods->id);
			request_handle(&request, methods->rows[0].id, handle);
			if (methods->nb_rows > 1)
				request_out(&request, methods->rows[1].id, 8);
			if (request_run(world.file[world.current], &request) == 0)
				return;
		}
	}
}

void
requests_command(void)
{
	static const uint64_t numbers[] = {
		IB_USER_VERBS_CMD_QUERY_DEVICE,
		IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
		IB_USER_VERBS_CMD_RESIZE_CQ,
		IB_USER_VERBS_CMD_QUERY_QP,
		IB_USER_VERBS_CMD_MODIFY_QP,
		IB_USER_VERBS_CMD_REREG_MR,
		IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
		IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
		IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
		IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ,
		IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
		IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ,
	};
	uint64_t number = numbers[fuzz_input_byte(input) % (sizeof(numbers) / sizeof(numbers[0]))];
	uint32_t in_length = fuzz_input_byte(input) % 160, driver_length;
	uint8_t in[160], driver[64], *answer;
	struct request request;
	int32_t fd;

	driver_length = fuzz_input_byte(input) % sizeof(driver);
	world_fill(in, in_length);
	world_fill(driver, driver_length);
	request_init(&request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	request_in(&request, UVERBS_ATTR_WRITE_CMD, &number, sizeof(number));
	request_in(&request, UVERBS_ATTR_CORE_IN, in, in_length);
	answer = request_out(&request, UVERBS_ATTR_CORE_OUT, 4 + fuzz_input_byte(input));
	request_in(&request, UVERBS_ATTR_UHW_IN, driver, driver_length);
	if (request_run(world.file[world.current], &request) == 0 &&
		number == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL) {
		memcpy(&fd, answer, sizeof(fd));
		world_remember_fd(fd);
	}
}
