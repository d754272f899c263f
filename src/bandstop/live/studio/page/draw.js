// A hand's skeleton on a canvas.

export function drawHand(canvas, joints, edges, { fit = false } = {}) {
  const pen = canvas.getContext("2d"), { width, height } = canvas;
  pen.clearRect(0, 0, width, height);
  if (!joints) return;
  let place = (i) => [joints[3 * i] * height, joints[3 * i + 1] * height];
  if (fit || !inPicture(joints, width / height)) place = fitted(joints, width, height);
  pen.lineWidth = 4; pen.strokeStyle = "#5cc4be"; pen.fillStyle = "#fff"; pen.lineCap = "round";
  for (const [a, b] of edges) {
    pen.beginPath(); pen.moveTo(...place(a)); pen.lineTo(...place(b)); pen.stroke();
  }
  for (let i = 0; 3 * i < joints.length; i++) {
    pen.beginPath(); pen.arc(...place(i), i === 0 ? 7 : 4.5, 0, 2 * Math.PI); pen.fill();
  }
}

// Landmarks of a picture lie between 0 and its width and height in units of the height.
const inPicture = (joints, aspect) => joints.every((v, i) =>
  i % 3 === 2 || (v > -0.5 && v < (i % 3 === 0 ? aspect : 1) + 0.5));

function fitted(joints, width, height) {
  const of = (axis) => joints.filter((_, i) => i % 3 === axis);
  const [x, y] = [of(0), of(1)];
  const middle = (v) => (Math.min(...v) + Math.max(...v)) / 2;
  const size = Math.max(Math.max(...x) - Math.min(...x), Math.max(...y) - Math.min(...y), 1e-9);
  const scale = 0.6 * Math.min(width, height) / size, [cx, cy] = [middle(x), middle(y)];
  return (i) => [width / 2 + (joints[3 * i] - cx) * scale, height / 2 - (joints[3 * i + 1] - cy) * scale];
}
