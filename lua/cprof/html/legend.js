// What the colours of a flame graph mean.

import { palette, byFile } from "./colors.js";
import { h } from "./dom.js";
import { tail } from "./format.js";

const most = 8;

// The files with the most time, in their colours, or the scale of heat.
export function legend(app) {
  const { model, scope, state } = app;
  const theme = palette(app.isDark());
  const swatch = (color, what, title) =>
    h(
      "span.swatched",
      { title },
      h("span.swatch", { style: { background: color } }),
      what,
    );
  const of = [];
  if (state.color === "heat") {
    const hottest = scope.self.reduce((a, b) => Math.max(a, b), 0);
    const steps = [0, 0.25, 0.5, 0.75, 1].map((part) =>
      h("span.swatch", { style: { background: theme.heat(Math.sqrt(part)) } }),
    );
    of.push(
      h("span.steps", { "aria-hidden": "true" }, steps),
      `self of each function, up to ${app.figure(hottest)}`,
    );
  } else {
    const colors = byFile(model.functions, theme, model.hues);
    const files = new Map();
    model.functions.forEach((f, i) => {
      if (!f.place) return;
      const file = files.get(f.place) || { self: 0, color: colors[i] };
      file.self += scope.self[i];
      files.set(f.place, file);
    });
    const list = [...files].filter(([, { self }]) => self > 0);
    list.sort(([, a], [, b]) => b.self - a.self);
    for (const [place, { color }] of list.slice(0, most)) {
      const name = place.slice(place.lastIndexOf("/") + 1);
      of.push(swatch(color, tail(name, 32), place));
    }
    if (list.length > most) of.push(`${list.length - most} more files`);
    if (model.functions.some((f) => f.kind === "C" && scope.self[f.id] > 0)) {
      of.push(swatch(theme.grey, "C"));
    }
    const zones = model.functions.filter(
      (f) => f.kind === "zone" && !f.place && scope.total[f.id] > 0,
    );
    if (zones.length > 0) {
      const collector = zones.some((f) => f.name === "(garbage collector)");
      const names = [
        zones.length > (collector ? 1 : 0) && "zones",
        collector && "(garbage collector)",
      ].filter(Boolean);
      of.push(swatch(colors[zones[0].id], names.join(", ")));
    }
    if (
      model.functions.some((f) => f.kind === "native" && scope.total[f.id] > 0)
    ) {
      of.push(swatch(theme.native, "C, not called by Lua"));
    }
  }
  return h("p.aside.legend", of);
}
