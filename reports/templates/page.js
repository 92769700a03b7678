"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const plots = [...document.querySelectorAll(".plot")];
  const config = {responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"]};
  let chosen = null; // the reader's choice; null follows the system
  let library = null; // promise of Plotly, made when the first figure is near

  function unpack() {
    if (!("DecompressionStream" in window)) {
      return Promise.reject(new Error("The figures need a browser of 2023 or later. All tables and numbers are here."));
    }
    const packed = document.getElementById("plotly-packed").textContent;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text().then((code) => {
      const script = document.createElement("script");
      script.textContent = code;
      document.head.append(script);
      return window.Plotly;
    });
  }

  // Figures name colours as CSS variables, so that one figure serves both themes.
  function resolve(node, styles) {
    if (typeof node === "string") {
      return node.startsWith("var(--") ? styles.getPropertyValue(node.slice(4, -1)).trim() : node;
    }
    if (Array.isArray(node)) {
      return node.every((item) => typeof item === "number") ? node : node.map((item) => resolve(item, styles));
    }
    if (node && typeof node === "object") {
      return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, resolve(item, styles)]));
    }
    return node;
  }

  function draw(plot) {
    library ??= unpack();
    return library.then((Plotly) => {
      const source = JSON.parse(document.getElementById(plot.dataset.source).textContent);
      const {data, layout} = resolve(source, getComputedStyle(root));
      layout.font.family = getComputedStyle(document.body).fontFamily;
      return Plotly.react(plot, data, layout, config);
    }).then(
      () => { plot.dataset.drawn = root.dataset.theme; },
      (error) => { plot.textContent = error.message; plot.style.height = "auto"; plot.dataset.drawn = "failed"; },
    );
  }

  function paint() {
    root.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
    button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to the ${button.textContent.toLowerCase()} theme`);
    return Promise.all(plots.filter((plot) => plot.dataset.drawn).map(draw));
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    paint();
  });
  system.addEventListener("change", paint);
  paint();

  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((item) => item.isIntersecting)) {
      near.unobserve(entry.target);
      draw(entry.target);
    }
  }, {rootMargin: "800px"});
  plots.forEach((plot) => near.observe(plot));
  addEventListener("beforeprint", () => plots.filter((plot) => !plot.dataset.drawn).forEach(draw));
})();
