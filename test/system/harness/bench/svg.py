# SPDX-License-Identifier: BSD-3-Clause
"""Charts as SVG: bars side by side, bars on top of each other, lines over time."""
from xml.sax.saxutils import escape, quoteattr

COLOURS = ("#1b6ca8", "#c0504d", "#7a9a01", "#e08e0b", "#6b4c9a", "#4a4a4a", "#2a9d8f", "#b5838d", "#9c6644")
WIDTH, LABEL, ROW, GAP, FIGURE = 900, 300, 13, 7, 60


def _text(x, y, words, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(words))}</text>'


def _bar(x, y, width, colour, title, height=ROW - 2):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height}" fill="{colour}">'
            f"<title>{escape(title)}</title></rect>")


def _svg(title, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" font-family="sans-serif" '
            f"""font-size="10" role="img" aria-label={quoteattr(title)}>{''.join(parts)}</svg>""")


def _legend(names):
    x, parts = LABEL, []
    for name, colour in zip(names, COLOURS):
        parts += [_bar(x, 4, 10, colour, name), _text(x + 14, 14, name)]
        x += 30 + 7 * len(name)
    return parts


def bars(title, names, rows, mark=None):
    """Rows of (label, [figure or None for each of names]), a bar each. @p mark draws a line at that figure."""
    most = max([figure for _, figures in rows for figure in figures if figure is not None] + [mark or 0]) or 1
    scale = (WIDTH - LABEL - FIGURE) / most
    parts, y = _legend(names), 24
    for label, figures in rows:
        parts.append(_text(LABEL - 6, y + ROW * len(figures) / 2 + 3, label, "end"))
        for colour, name, figure in zip(COLOURS, names, figures):
            if figure is not None:
                parts += [_bar(LABEL, y, figure * scale, colour, f"{label}, {name}: {figure:g}"),
                          _text(LABEL + figure * scale + 4, y + ROW - 3, f"{figure:.4g}")]
            y += ROW
        y += GAP
    if mark is not None:
        at = LABEL + mark * scale
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="20" y2="{y}" stroke="#000" stroke-dasharray="3 3"/>')
    return _svg(title, y, parts)


def stacks(title, names, rows):
    """Rows of (label, [figure for each of names]), one bar each of parts."""
    most = max([sum(figures) for _, figures in rows] + [0]) or 1
    scale = (WIDTH - LABEL - FIGURE) / most
    parts, y = _legend(names), 24
    for label, figures in rows:
        x = LABEL
        parts.append(_text(LABEL - 6, y + ROW - 3, label, "end"))
        for colour, name, figure in zip(COLOURS, names, figures):
            parts.append(_bar(x, y, figure * scale, colour, f"{label}, {name}: {figure:g}"))
            x += figure * scale
        parts.append(_text(x + 4, y + ROW - 3, f"{sum(figures):.4g}"))
        y += ROW + (GAP if label.endswith("theirs") else 0)
    return _svg(title, y, parts)


def lines(title, names, points):
    """Points of (label, [figure or None for each of names]), from left to right."""
    height, most = 220, max([figure for _, figures in points for figure in figures if figure is not None] + [0]) or 1
    step = (WIDTH - LABEL - FIGURE) / max(len(points) - 1, 1)
    parts = _legend(names)

    def place(number, figure):
        return LABEL + number * step, height - 30 - figure / most * (height - 60)

    for colour, name, index in zip(COLOURS, names, range(len(names))):
        places = [(*place(number, figures[index]), figures[index]) for number, (_, figures) in enumerate(points)
                  if figures[index] is not None]
        parts.append(f'<polyline fill="none" stroke="{colour}" points="'
                     + " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places) + '"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{escape(name)}: {figure:g}</title>'
                  "</circle>" for x, y, figure in places]
    for number, (label, _) in enumerate(points):
        parts.append(_text(place(number, 0)[0], height - 12, label, "middle"))
    parts.append(_text(LABEL - 6, place(0, most)[1] + 4, f"{most:.4g}", "end"))
    return _svg(title, height, parts)
