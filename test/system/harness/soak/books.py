# SPDX-License-Identifier: BSD-3-Clause
"""Counters of all sides of a cycle, and whether they add up.

Everything is the difference between two moments at which no frame was under way. `unknown` frames went to queues of
processes that were killed before they could tell: the card has counted them, the program had no time to.
"""
import dataclasses


@dataclasses.dataclass
class Program:
    """One that receives by queues of its own."""

    name: str
    wanted: int             # frames that were sent to rules which it had all the time
    maybe: int              # frames for rules that came and went
    delivered: int          # by the card, to its queues
    counted: int            # by itself
    no_wqe: int             # lost: the card found no receive WQE
    too_long: int           # lost: longer than its buffers
    alive: tuple = (0, 0)   # since this life of it began: delivered by the card, counted by itself
    was_killed: bool = False
    was_away: bool = False  # started, stopped or restarted: frames of it may have gone elsewhere
    copies: int = 0         # at most: of several programs that have the same rule each gets one


@dataclasses.dataclass
class Cycle:
    sent: int
    port: dict              # of ctl stats
    programs: list
    watched: int = 0        # frames that the sniffer's rule is for
    received: int = 0       # by the peer
    doubled: int = 0
    netdev_rx: int = 0
    netdev_tx: int = 0
    tx_programs: int = 0    # frames that programs say they sent
    tx_unknown: bool = False  # a killed one could not say
    linux_sent: int = 0     # for Linux's own receiver and answers
    linux_counted: int = 0
    linux_dropped: int = 0  # by Linux, for lack of room in a socket
    pings: tuple = (0, 0)   # sent by ping, answers that Linux received
    echoes: tuple = (0, 0)  # of the peer: requests and replies of those pings
    was_cut: bool = False   # link or netdev were down: Linux drops what it cannot send


def equal(what, left, right):
    return [] if left == right else [f"{what}: {left} against {right}, {abs(left - right)} are missing"]


def of_program(program, port):
    """A program's own books."""
    wrong = equal(f"{program.name} received, since it was started, what the card delivered", *program.alive)
    if not program.was_killed:
        wrong += equal(f"{program.name} received what the card delivered", program.counted, program.delivered)
    lost = program.no_wqe + program.too_long
    elsewhere = port["rx_no_link"]
    if program.counted > program.delivered:
        wrong.append(f"{program.name} received {program.counted} frames, and the card delivered {program.delivered}")
    if program.was_killed or program.was_away:
        return wrong
    low, high = program.wanted - elsewhere, program.wanted + program.maybe
    if not low <= program.delivered + lost <= high:
        wrong.append(f"{program.name} was sent {program.wanted} frames and at most {program.maybe} more, "
                     f"{program.delivered} were delivered, {program.no_wqe} found no WQE, {program.too_long} were too "
                     f"long, and {elsewhere} frames met no link")
    return wrong


def of_reception(cycle):
    """Each frame that came in is somewhere, or its loss is told."""
    port = cycle.port
    wrong = equal("frames sent, and frames received by the card or lost without a link", cycle.sent,
                  port["rx_frames"] + port["rx_no_link"])
    sniffer = next((program for program in cycle.programs if program.name == "sniffer"), None)
    fates = (port["rx_steered"] + port["rx_kernel"] + port["rx_kernel_lost"] + port["rx_unwanted"] + port["out_of_buffer"]
             + port["rx_errors"])
    told = 0 if sniffer is None else sniffer.delivered + sniffer.no_wqe + sniffer.too_long
    copies = fates - port["rx_frames"]
    most = (cycle.watched if sniffer is not None and sniffer.was_killed else told) + sum(p.copies for p in cycle.programs)
    if most != told:
        if not told <= copies <= most:
            wrong.append(f"frames of the card have {fates} fates and {told} to {most} copies, and {port['rx_frames']} came")
    else:
        wrong += equal("frames that came, with copies, and their fates", port["rx_frames"] + told, fates)
    known = sum(program.delivered for program in cycle.programs)
    unknown = port["rx_steered"] - known
    killed = [program for program in cycle.programs if program.was_killed]
    if unknown < 0 or (unknown > 0 and not killed) or unknown > sum(p.wanted + p.maybe + p.copies for p in killed):
        wrong.append(f"{port['rx_steered']} copies were delivered, {known} to queues that are known")
    return wrong


def of_linux(cycle):
    port = cycle.port
    wrong = equal("frames given to the netdev, and received by Linux", port["rx_kernel"], cycle.netdev_rx)
    missing = cycle.linux_sent - cycle.linux_counted - cycle.linux_dropped
    if not 0 <= missing <= port["rx_no_link"] + port["rx_kernel_lost"]:
        wrong.append(f"of {cycle.linux_sent} frames for Linux's programs {cycle.linux_counted} arrived, {cycle.linux_dropped} "
                     f"were dropped, {port['rx_kernel_lost']} found no netdev and {port['rx_no_link']} no link")
    unasked = cycle.pings[0] - cycle.echoes[0]
    unanswered = cycle.echoes[1] - cycle.pings[1]
    if unasked < 0 or (unasked > 0 and not cycle.was_cut):
        wrong.append(f"ping sent {cycle.pings[0]} requests, {cycle.echoes[0]} came")
    if not 0 <= unanswered <= port["rx_no_link"] + port["rx_kernel_lost"]:
        wrong.append(f"the peer answered {cycle.echoes[1]} pings, {cycle.pings[1]} answers arrived")
    return wrong


def of_sending(cycle):
    port = cycle.port
    wrong = equal("frames that the card sent, and frames that the peer received", port["tx_frames"], cycle.received)
    left, said = port["tx_frames"] + port["tx_no_link"], cycle.tx_programs + cycle.netdev_tx
    if not cycle.tx_unknown or said > left:
        wrong += equal("frames that programs and Linux sent, and those that left or met no link", said, left)
    wrong += equal("frames that came twice", cycle.doubled, 0)
    wrong += equal("send errors", port["tx_errors"], 0)
    return wrong


def mistakes(cycle):
    """What does not add up, one sentence each."""
    wrong = of_reception(cycle) + of_linux(cycle) + of_sending(cycle)
    for program in cycle.programs:
        wrong += of_program(program, cycle.port)
    return wrong


def losses(cycle):
    """The frames that did not reach a program, by cause."""
    port = cycle.port
    return {
        "no rule took it": port["rx_unwanted"],
        "no WQE": port["out_of_buffer"],
        "longer than the MTU's buffers": port["rx_errors"],
        "link down, received": port["rx_no_link"],
        "link down, sent": port["tx_no_link"],
        "netdev down or full": port["rx_kernel_lost"],
        "no room in Linux's socket": cycle.linux_dropped,
        "queue of a killed process": port["rx_steered"] - sum(program.counted for program in cycle.programs),
    }
