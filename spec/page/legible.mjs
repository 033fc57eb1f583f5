// Which texts of a page are hard to read: in elements, in pictures made of them,
// and on canvases.

// Has a page note what it draws as text, and on which colours. To be called
// before the page is loaded.
export function watch(page) {
  return page.evaluateOnNewDocument(() => {
    const { prototype } = CanvasRenderingContext2D;
    const { fillText } = prototype;
    const sides = {
      left: 0,
      start: 0,
      center: 0.5,
      right: 1,
      end: 1,
    };
    // the colours of at least a quarter of the pixels in a box
    const colors = (c, x, y, width, height) => {
      const { data } = c.getImageData(x, y, width, height);
      const counts = new Map();
      for (let i = 0; i < data.length; i += 4) {
        const [r, g, b, a] = data.subarray(i, i + 4);
        const key = `rgb(${r} ${g} ${b} / ${a / 255})`;
        counts.set(key, (counts.get(key) || 0) + 1);
      }
      const enough = data.length / 4 / 4;
      return [...counts.keys()].filter((key) => counts.get(key) >= enough);
    };
    prototype.fillText = function (text, x, y, ...rest) {
      const {
        width,
        fontBoundingBoxAscent: up,
        fontBoundingBoxDescent: down,
      } = this.measureText(text);
      const { a: scale, e: left, f: above } = this.getTransform();
      const from = x - width * sides[this.textAlign];
      const box = [
        Math.max(0, Math.round(scale * from + left)),
        Math.max(0, Math.round(scale * (y - up) + above)),
        Math.max(1, Math.round(scale * width)),
        Math.max(1, Math.round(scale * (up + down))),
      ];
      this.canvas.texts ??= new Map();
      for (const ground of colors(this, ...box)) {
        const { fillStyle: color } = this;
        const key = [ground, color].join();
        this.canvas.texts.set(key, { text, color, ground });
      }
      return fillText.call(this, text, x, y, ...rest);
    };
  });
}

// Texts whose contrast is below 4.5, with what they are, and how many kinds of
// texts are on canvases.
export function legible(page) {
  return page.evaluate(() => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    // draws colours on each other and reads the result
    const mixed = (colors) => {
      context.clearRect(0, 0, 1, 1);
      for (const color of colors) {
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
      }
      return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (rgb) => {
      const [r, g, b] = rgb.map((n) => {
        const c = n / 255;
        return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const groundsOf = (e) => {
      const out = [];
      for (let up = e; up; up = up.parentElement) {
        out.unshift(getComputedStyle(up).backgroundColor);
      }
      return out;
    };
    const out = new Map();
    const add = (grounds, color, what) => {
      const key = [...grounds, color].join();
      if (out.has(key)) return;
      const [x, y] = [light(mixed(grounds)), light(mixed([...grounds, color]))];
      const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
      out.set(key, ratio < 4.5 ? `${ratio.toFixed(2)} ${what}` : "");
    };
    const walker = document.createTreeWalker(
      document.body,
      NodeFilter.SHOW_TEXT,
    );
    while (walker.nextNode()) {
      const e = walker.currentNode.parentElement;
      const text = walker.currentNode.data.trim();
      if (!text || !e.checkVisibility() || e.closest("script, title")) continue;
      const style = getComputedStyle(e);
      const drawn = e.tagName === "text";
      // the box of a text in a picture is beside it
      const box = drawn && e.parentElement.querySelector("rect");
      add(
        [...groundsOf(e), ...(box ? [getComputedStyle(box).fill] : [])],
        drawn ? style.fill : style.color,
        `${e.tagName}.${e.getAttribute("class")}: ${text}`,
      );
    }
    let drawn = 0;
    for (const e of document.querySelectorAll("canvas")) {
      for (const { text, color, ground } of e.texts?.values() || []) {
        if (!e.checkVisibility()) continue;
        drawn++;
        add([...groundsOf(e), ground], color, `on ${e.className}: ${text}`);
      }
    }
    return { faint: [...out.values()].filter(Boolean), drawn };
  });
}
