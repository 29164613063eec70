// A flame graph of the server's main thread under the load of one case.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { selectCases } from './cases.js';
import { flameGraph } from './flame-graph.js';
import { freePort, PROJECT } from './product.js';
import { missingPrograms } from './programs.js';
import { locateSources } from './source-lines.js';
import { closeSubject, measure, openSubject } from './subjects.js';

const SAMPLING_US = 500;
const ATTEMPTS = 100;
const RETRY_MS = 50;

/** Returns a function that sends a command to the inspector of the process at this port. */
const openInspector = async (port) => {
  let targets = null;
  for (let attempt = 0; targets === null; attempt += 1) {
    targets = await fetch(`http://127.0.0.1:${port}/json`)
      .then((answer) => answer.json())
      .catch(() => null);
    if (targets === null && attempt >= ATTEMPTS) throw new Error(`no inspector answers at port ${port}`);
    if (targets === null) await delay(RETRY_MS);
  }
  const socket = new WebSocket(targets[0].webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the inspector refused the connection'));
  });
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
    waiting.delete(id);
  };
  let last = 0;
  const send = (method, params = {}) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return { send, close: () => socket.close() };
};

/** Profiles the server while it gets requests of a case, and writes the SVG file. */
export const profile = async ({ name, seconds, connections, out, build = PROJECT }) => {
  const missing = missingPrograms('wrk');
  if (missing.length > 0) throw new Error(missing.join('\n'));
  const [one] = selectCases([name], true);
  const file = out ?? join(PROJECT, 'docs/images', `flame-${name}.svg`);
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-files-'));
  const seeds = [
    { prefix: 'bench', workspaces: 200 },
    { prefix: 'nursery', workspaces: 800 },
  ];
  const port = await freePort();
  const subject = await openSubject('profile', build, folder, seeds, [`--inspect=127.0.0.1:${port}`]);
  try {
    const inspector = await openInspector(port);
    await measure(subject, one, connections, 2);
    await inspector.send('Profiler.enable');
    await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLING_US });
    await inspector.send('Profiler.start');
    const { rate, node } = await measure(subject, one, connections, seconds);
    const { profile: recorded } = await inspector.send('Profiler.stop');
    inspector.close();
    await mkdir(dirname(file), { recursive: true });
    const title = `${one.title}: ${connections} connections, ${rate.toFixed(0)} requests/s, ${node.toFixed(3)} ms of CPU each in Node`;
    await writeFile(file, flameGraph(await locateSources(recorded), title));
    process.stdout.write(`wrote ${file}\n`);
    return true;
  } finally {
    await closeSubject(subject);
    await rm(folder, { recursive: true, force: true });
  }
};
