# SPDX-License-Identifier: BSD-3-Clause
"""Rules as testpmd takes them, sensible or not: items in any order, fields that devices lack, actions of all kinds."""
FIELDS = {
    "eth": ("dst is 02:00:00:00:00:10", "dst spec 01:00:00:00:00:00 dst mask 01:00:00:00:00:00", "type is 0x88cc",
            "src is 02:00:00:00:00:77", "has_vlan is 1", "has_vlan spec 0 has_vlan mask 1", "type is 0x0800"),
    "vlan": ("vid is 5", "pcp is 3", "dei is 1", "inner_type is 0x0800", "tci spec 0x2005 tci mask 0x2fff",
             "has_more_vlan is 1"),
    "ipv4": ("src is 10.0.0.2", "dst spec 10.0.0.0 dst mask 255.255.0.255", "ttl is 64", "ttl spec 64 ttl mask 0xf0",
             "tos is 4", "proto is 17", "proto is 6", "proto spec 16 proto mask 0x10", "fragment_offset is 0",
             "fragment_offset spec 0x2000 fragment_offset mask 0x2000", "fragment_offset is 0x4000",
             "version_ihl is 0x45", "packet_id is 7", "src spec 10.0.0.1 src last 10.0.0.9",
             "src spec 10.0.0.1 src last 10.0.0.1 src mask 255.255.255.255"),
    "ipv6": ("src is fd00::1", "dst spec fd00:: dst prefix 16", "tc is 4", "flow is 0x12345", "hop is 64",
             "proto is 17", "has_frag_ext is 1"),
    "udp": ("dst is 53", "src is 53", "dst spec 52 dst mask 0xfffe", "dst is 4789", "dst spec 5 dst last 9"),
    "tcp": ("dst is 80", "flags spec 2 flags mask 2", "src spec 80 src mask 0xff00"),
    "sctp": ("dst is 80", "tag is 1"),
    "icmp": ("type is 8", "code is 0"),
    "esp": ("spi is 7", "spi spec 0x100 spi mask 0xff00"),
    "vxlan": ("vni is 42", "vni spec 0x100 vni mask 0xff00", "last_rsvd is 1"),
    "nvgre": ("tni is 42", "tni spec 0x100 tni mask 0xff00"),
    "gre": ("protocol is 0x0800", "protocol is 0x6558", "protocol spec 0x8800 protocol mask 0xff00",
            "k_bit is 1", "c_bit is 1", "s_bit spec 0 s_bit mask 1", "c_rsvd0_ver is 0x2000"),
    "gre_key": ("value is 7", "value spec 7 value mask 0xff"),
    "mpls": ("label is 16", "label spec 16 label mask 0xffff0", "tc is 1", "s is 1"),
    "any": ("num is 0", "num is 1", "num is 2", "num spec 1 num last 2"),
    "void": (), "invert": (), "geneve": ("vni is 5",), "gtp": ("teid is 5",), "vxlan-gpe": ("vni is 5",),
    "mark": ("id is 5",), "icmp6": ("type is 128",), "ah": (), "pppoes": ("seid is 5",),
}
# What protocols make of layers; None: nothing there.
STACKS = (
    (("eth", None), ("vlan", None, None), ("ipv4", "ipv6", "any", None), ("udp", "tcp", "esp", None)),
    (("eth", None), ("ipv4", "ipv6"), ("udp", None), ("vxlan",), ("eth", None), ("ipv4", "ipv6", None),
     ("udp", "tcp", None)),
    (("eth", None), ("ipv4", "ipv6"), ("gre",), ("gre_key", None), ("ipv4", "ipv6", "mpls", "eth", None),
     ("udp", "tcp", None)),
    (("eth", None), ("ipv4", "ipv6"), ("nvgre",), ("eth", None), ("ipv4", None), ("udp", None)),
    (("eth", None), ("ipv4", "ipv6", None), ("udp", "gre", None), ("mpls",), ("ipv4", "ipv6", None), ("udp", None)),
)
FATES = ("queue index 0", "queue index 1", "queue index 3", "queue index 9", "drop",
         "rss types ipv4-udp ipv6 end queues 0 1 end", "rss types ipv4 ipv6-tcp end queues 2 3 end",
         "rss queues 1 end", "rss queues 7 end", "rss level 2 types ipv4-udp end queues 0 1 end",
         "rss func symmetric_toeplitz types ipv4 end queues 0 1 end", "rss types l2-payload end queues 0 1 end",
         "sample ratio 1 index 0", "sample ratio 2 index 0", "jump group 1", "vf id 1", "port_id id 0")
OTHERS = ("passthru", "passthru", "count", "mark id 7", "mark id 16777215", "flag", "void", "dec_ttl",
          "set_mac_dst mac_addr 02:00:00:00:00:01", "of_pop_vlan", "vxlan_decap", "queue index 2",
          "set_tp_dst port 7", "nvgre_decap", "raw_decap index 0", "vxlan_encap")
ATTRIBUTES = ("ingress",) * 12 + ("egress", "egress", "transfer", "ingress group 1", "ingress egress")


def item(rng, name):
    words = rng.sample(FIELDS[name], min(len(FIELDS[name]), rng.choice((0, 0, 1, 1, 1, 2))))
    seen, fit = set(), []
    for text in words:
        field = text.split()[0]
        if field not in seen:
            seen.add(field)
            fit.append(text)
    return " ".join([name, *fit])


def names(rng):
    if rng.random() < 0.2:
        return [rng.choice(list(FIELDS)) for _ in range(rng.randrange(6))]
    chosen = [rng.choice(layer) for layer in rng.choice(STACKS)]
    chosen = [name for name in chosen if name]
    if rng.random() < 0.1:
        chosen.insert(rng.randrange(len(chosen) + 1), rng.choice(list(FIELDS)))
    return chosen


def rule(rng):
    """A rule as flow create takes it behind the port's number."""
    attribute = rng.choice(ATTRIBUTES)
    pattern = [item(rng, name) for name in names(rng)]
    actions = rng.sample(FATES, rng.choice((1, 1, 1, 1, 2, 0))) + rng.sample(OTHERS, rng.choice((0, 0, 1, 1, 2)))
    if attribute == "egress" and rng.random() < 0.7:
        actions = rng.choice((["drop"], ["count"], ["drop", "count"]))
    rng.shuffle(actions)
    return (f"{attribute} priority {rng.choice((0, 1, 1, 2, 3, 4294967295))} pattern"
            f" {' / '.join([*pattern, 'end'])} actions {' / '.join([*actions, 'end'])}")
