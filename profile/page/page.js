// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
"use strict";

(() => {
	const data = JSON.parse(document.getElementById("data").textContent);
	const byId = (id) => document.getElementById(id);

	// ---- tables ----

	for (const button of document.querySelectorAll("button.all")) {
		button.addEventListener("click", () => {
			byId(button.getAttribute("aria-controls")).classList.remove("cut");
			button.remove();
		});
	}

	const sortBy = (head) => {
		const table = head.closest("table");
		const body = table.tBodies[0];
		const column = head.cellIndex;
		const descending = head.ariaSort === "ascending" || (head.ariaSort === "none" && !head.classList.contains("left"));
		const key = (row) => {
			const cell = row.cells[column];
			return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
		};
		const rows = Array.from(body.rows, (row) => [key(row), row]);
		const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true }));
		rows.sort(([a], [b]) => (descending ? compare(b, a) : compare(a, b)));
		body.append(...rows.map(([, row]) => row));
		for (const other of table.tHead.rows[0].cells) {
			if (other.ariaSort) other.ariaSort = "none";
		}
		head.ariaSort = descending ? "descending" : "ascending";
	};
	for (const button of document.querySelectorAll("th button")) {
		button.addEventListener("click", () => sortBy(button.closest("th")));
	}

	// ---- words ----

	const three = (x) => (x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2));
	const thousands = (x) => Math.round(x).toLocaleString("en-US");
	// What is drawn is known to three digits.
	const count = (x) => thousands(x < 999.5 ? x : Number(x.toPrecision(3)));
	const seconds = (s) => {
		if (s === 0) return "0 s";
		if (s >= 99999.5) return thousands(s) + " s";
		if (s >= 0.9995) return three(s) + " s";
		return s >= 0.9995e-3 ? three(s * 1e3) + " ms" : three(s * 1e6) + " us";
	};
	const size = (bytes) => {
		if (bytes < 1023.5) return thousands(bytes) + " B";
		let i = -1;
		do bytes /= 1024, i++; while (bytes >= 1023.5 && i < 5);
		return three(bytes) + " " + ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][i];
	};

	// ---- drawings ----

	const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
	const channels = (name) => {
		const number = parseInt(colour(name).slice(1), 16);
		return [number >> 16, (number >> 8) & 255, number & 255];
	};

	// Makes the canvas as sharp as the screen. Returns its context, whose units are those of the page, and its width and height in them.
	const surface = (canvas, square) => {
		const width = canvas.clientWidth;
		const height = square ? width : canvas.clientHeight;
		if (square) canvas.style.height = height + "px";
		const ratio = window.devicePixelRatio || 1;
		canvas.width = Math.max(1, Math.round(width * ratio));
		canvas.height = Math.max(1, Math.round(height * ratio));
		const pen = canvas.getContext("2d");
		pen.scale(ratio, ratio);
		pen.font = "11px system-ui, sans-serif";
		return { pen, width, height };
	};

	// Has a pointer or the arrow keys move a position in a drawing. at(x, y) says which position a point is; step(position, dx, dy), which is beside one.
	const explore = (canvas, readout, { at, step, tell, draw }) => {
		const nothing = readout.textContent;
		let position = null;
		const go = (to) => {
			position = to;
			readout.textContent = to === null ? nothing : tell(to);
			draw(to);
		};
		canvas.addEventListener("pointermove", (event) => {
			const box = canvas.getBoundingClientRect();
			go(at(event.clientX - box.left, event.clientY - box.top));
		});
		canvas.addEventListener("pointerleave", () => go(null));
		canvas.addEventListener("blur", () => go(null));
		canvas.addEventListener("keydown", (event) => {
			const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
			if (event.key === "Escape") go(null);
			if (!move) return;
			event.preventDefault();
			const far = event.shiftKey ? 10 : 1;
			go(step(position, move[0] * far, move[1] * far));
		});
		return () => draw(position);
	};
	const clamp = (x, n) => Math.min(n - 1, Math.max(0, x));

	// ---- time of ranks ----

	const drawRanks = (chart) => {
		const canvas = byId("ranks-chart");
		const n = chart.names.length;
		const kinds = ["compute", "wait", "either", "transfer"];
		const left = 40;
		const below = 18;

		const hatch = (pen) => {
			const tile = document.createElement("canvas");
			tile.width = tile.height = 6;
			const t = tile.getContext("2d");
			t.fillStyle = colour("either");
			t.fillRect(0, 0, 6, 6);
			t.strokeStyle = colour("hatch");
			t.lineWidth = 1.5;
			t.beginPath();
			for (const shift of [-6, 0, 6]) {
				t.moveTo(shift, 6);
				t.lineTo(shift + 6, 0);
			}
			t.stroke();
			return pen.createPattern(tile, "repeat");
		};

		// Where there are more ranks than pixels, a column is the mean of several, and a line above shows the one that computes longest.
		const draw = (position) => {
			const { pen, width, height } = surface(canvas, false);
			const plot = { width: width - left, height: height - below };
			const columns = Math.max(1, Math.min(n, Math.floor(plot.width)));
			const step = plot.width / columns;
			const fills = { compute: colour("compute"), wait: colour("accent"), either: hatch(pen), transfer: colour("transfer") };
			pen.fillStyle = colour("raised");
			pen.fillRect(left, 0, plot.width, plot.height);
			const longest = [];
			for (let column = 0; column < columns; column++) {
				const from = Math.floor((column * n) / columns);
				const to = Math.max(from + 1, Math.floor(((column + 1) * n) / columns));
				let base = plot.height;
				longest.push(Math.max(...chart.compute.slice(from, to)));
				for (const kind of kinds) {
					let sum = 0;
					for (let i = from; i < to; i++) sum += chart[kind][i];
					const tall = ((sum / (to - from)) * plot.height) / 1e4;
					pen.fillStyle = fills[kind];
					pen.fillRect(left + column * step, base - tall, Math.max(step > 4 ? step - 1 : step + 0.3, 0.5), tall);
					base -= tall;
				}
			}
			if (columns < n) {
				pen.strokeStyle = colour("text");
				pen.beginPath();
				longest.forEach((tall, column) => pen.lineTo(left + (column + 0.5) * step, plot.height - (tall * plot.height) / 1e4));
				pen.stroke();
			}
			const slowest = chart.compute.indexOf(Math.max(...chart.compute));
			const at = left + ((slowest + 0.5) * plot.width) / n;
			const label = `rank ${chart.names[slowest]} computes longest`;
			const fits = at + 6 + pen.measureText(label).width < width;
			pen.fillStyle = colour("text");
			pen.textBaseline = "top";
			pen.textAlign = fits ? "left" : "right";
			pen.fillText(label, at + (fits ? 6 : -6), plot.height * (1 - chart.compute[slowest] / 1e4) + plot.height * 0.3);
			pen.fillRect(at - 0.5, plot.height * (1 - chart.compute[slowest] / 1e4), 1, plot.height * 0.3 + 12);
			pen.fillStyle = colour("quiet");
			pen.textAlign = "right";
			for (const [share, base] of [[1, "top"], [0.5, "middle"], [0, "bottom"]]) {
				pen.textBaseline = base;
				pen.fillText(share * 100 + " %", left - 5, (1 - share) * plot.height);
			}
			pen.textBaseline = "top";
			const marks = Math.min(n, width < 500 ? 4 : 8);
			for (let i = 0; i < marks; i++) {
				const rank = Math.round((i * (n - 1)) / Math.max(1, marks - 1));
				pen.textAlign = i === 0 ? "left" : i === marks - 1 ? "right" : "center";
				pen.fillText(chart.names[rank], left + ((rank + (i === 0 ? 0 : i === marks - 1 ? 1 : 0.5)) * plot.width) / n, plot.height + 4);
			}
			if (position !== null) {
				pen.strokeStyle = colour("text");
				pen.lineWidth = 1;
				pen.strokeRect(left + (position * plot.width) / n - 0.5, 0.5, Math.max(2, plot.width / n) + 1, plot.height - 1);
			}
		};
		const time = (kind, i) => seconds((chart[kind][i] * chart.runtime) / 1e4);
		return explore(canvas, byId("ranks-readout"), {
			at: (x) => clamp(Math.floor(((x - left) * n) / (canvas.clientWidth - left)), n),
			step: (position, dx, dy) => (position === null ? 0 : clamp(position + dx + dy, n)),
			tell: (i) => `Rank ${chart.names[i]}: compute ${time("compute", i)}, wait ${time("wait", i)}, either ${time("either", i)}, transfer ${time("transfer", i)}`,
			draw,
		});
	};

	// ---- the matrix ----

	// Returns the numbers of a layer: see matrixData in page.go.
	const unpack = (text, n) => {
		const bytes = atob(text);
		const numbers = new Float64Array(n * n);
		const repeats = 0xfc00;
		let at = 0;
		for (let i = 0; i < bytes.length; i += 2) {
			const code = bytes.charCodeAt(i) | (bytes.charCodeAt(i + 1) << 8);
			if (code < repeats) {
				numbers[at++] = 2 ** (code / 1024) - 1;
				continue;
			}
			const end = at + code - repeats + 1;
			numbers.fill(numbers[at - 1], at, end);
			at = end;
		}
		return numbers;
	};

	const drawMatrix = (matrix) => {
		const canvas = byId("matrix-map");
		const n = matrix.names.length;
		const margin = 40;
		canvas.style.maxWidth = Math.max(260, 72 * n + margin) + "px"; // cells of few ranks need not be great
		const layers = {};
		for (const [way, texts] of Object.entries(matrix.layers)) layers[way] = texts.map((text) => unpack(text, n));
		layers[""] = [0, 1].map((what) => {
			const sum = new Float64Array(n * n);
			for (const way of Object.keys(matrix.layers)) layers[way][what].forEach((x, i) => { sum[i] += x; });
			return sum;
		});
		const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;

		const image = document.createElement("canvas");
		image.width = image.height = n;
		const paint = () => {
			const what = Number(chosen("what"));
			const cells = layers[chosen("way")][what];
			let least = Infinity;
			let most = 0;
			for (const x of cells) {
				if (x > 0.5) {
					least = Math.min(least, x);
					most = Math.max(most, x);
				}
			}
			const ramp = ["heat-low", "heat-middle", "heat-high"].map(channels);
			const pixels = new ImageData(n, n);
			const range = Math.log(most / least) || 1;
			cells.forEach((x, i) => {
				if (x <= 0.5) return;
				const t = most === least ? 1 : Math.log(x / least) / range;
				const [from, to] = t < 0.5 ? [ramp[0], ramp[1]] : [ramp[1], ramp[2]];
				const way = t < 0.5 ? 2 * t : 2 * t - 1;
				for (let c = 0; c < 3; c++) pixels.data[4 * i + c] = from[c] + way * (to[c] - from[c]);
				pixels.data[4 * i + 3] = 255;
			});
			image.getContext("2d").putImageData(pixels, 0, 0);
			const write = what === 1 ? size : count;
			byId("matrix-least").textContent = most > 0 ? write(least) : "nothing";
			byId("matrix-most").textContent = most > 0 ? write(most) : "";
		};

		const draw = (position) => {
			const { pen, width } = surface(canvas, true);
			const side = width - margin - 1; // the last lines need a pixel
			const cell = side / n;
			pen.fillStyle = colour("raised");
			pen.fillRect(margin, margin, side, side);
			pen.imageSmoothingEnabled = cell * (window.devicePixelRatio || 1) < 1;
			pen.drawImage(image, margin, margin, side, side);
			// Great squares have a light line below the dark one, so that they show on cells of any colour.
			const squares = (blocks, thickness) => {
				const great = side / blocks.length >= 32;
				for (const [ink, more] of great ? [["ground", 2], ["text", 0]] : [["quiet", 0]]) {
					pen.strokeStyle = colour(ink);
					pen.lineWidth = great ? thickness + more : 0.75;
					for (const [from, to] of blocks) pen.strokeRect(margin + from * cell, margin + from * cell, (to - from) * cell, (to - from) * cell);
				}
			};
			if (side / matrix.processes.length >= 6) squares(matrix.processes, 1);
			if (matrix.hosts.length > 1) squares(matrix.hosts, 2.5);

			pen.fillStyle = colour("quiet");
			const blocks = matrix.processes.length > 1 && matrix.processes.length <= 16 ? matrix.processes.map(([from]) => from) : Array.from(matrix.names.keys());
			const stride = Math.ceil(blocks.length / 8);
			blocks.forEach((i, at) => {
				if (at % stride) return;
				const middle = margin + (i + 0.5) * cell;
				const name = matrix.names[i].split("-")[0];
				pen.textAlign = "right";
				pen.textBaseline = "middle";
				pen.fillText(name, margin - 4, middle);
				pen.textAlign = "center";
				pen.textBaseline = "bottom";
				pen.fillText(name, middle, margin - 3);
			});
			pen.textAlign = "left";
			pen.textBaseline = "top";
			pen.fillText("to \u2192", margin, 6);
			pen.save();
			pen.translate(6, margin);
			pen.rotate(Math.PI / 2);
			pen.textBaseline = "bottom";
			pen.fillText("from \u2192", 0, 0);
			pen.restore();
			if (position !== null) {
				pen.strokeStyle = colour("accent");
				pen.lineWidth = 1.5;
				const [from, to] = position;
				pen.strokeRect(margin + to * cell - 1, margin + from * cell - 1, Math.max(4, cell + 2), Math.max(4, cell + 2));
			}
		};

		const within = (ranges, i) => ranges.findIndex(([from, to]) => i >= from && i < to);
		const relation = (a, b) => {
			if (within(matrix.hosts, a) !== within(matrix.hosts, b)) return "other host";
			return within(matrix.processes, a) === within(matrix.processes, b) ? "same process" : "same host";
		};
		const redraw = explore(canvas, byId("matrix-readout"), {
			at: (x, y) => {
				const cell = (canvas.clientWidth - margin - 1) / n;
				const [from, to] = [Math.floor((y - margin) / cell), Math.floor((x - margin) / cell)];
				return from < 0 || to < 0 || from >= n || to >= n ? null : [from, to];
			},
			step: (position, dx, dy) => (position === null ? [0, 0] : [clamp(position[0] + dy, n), clamp(position[1] + dx, n)]),
			tell: ([from, to]) => {
				const layer = layers[chosen("way")];
				const i = from * n + to;
				return `${matrix.names[from]} \u2192 ${matrix.names[to]}: ${size(layer[1][i])} in ${count(layer[0][i])} messages or operations, ${relation(from, to)}`;
			},
			draw,
		});
		const all = () => {
			paint();
			redraw();
		};
		for (const input of document.querySelectorAll(".choose input")) input.addEventListener("change", all);
		return all;
	};

	// ---- all ----

	const start = () => {
		const drawings = [];
		if (data.ranks) drawings.push(drawRanks(data.ranks));
		if (data.matrix) drawings.push(drawMatrix(data.matrix));
		const draw = () => drawings.forEach((one) => one());
		draw();
		let width = document.body.clientWidth;
		new ResizeObserver(() => {
			if (document.body.clientWidth === width) return;
			width = document.body.clientWidth;
			draw();
		}).observe(document.body);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
		addEventListener("beforeprint", () => {
			document.documentElement.dataset.theme = "light";
			draw();
		});
		addEventListener("afterprint", () => {
			delete document.documentElement.dataset.theme;
			draw();
		});
		document.documentElement.dataset.ready = Math.round(performance.now());
	};
	start();
})();
