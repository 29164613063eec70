// How fast `cadastre audit verify` verifies an export with proofs, by the wall clock and by CPU.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, hash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { figure } from './figures.js';
import { cpuOf } from './proc.js';
import { PROJECT } from './product.js';
import { median } from './statistics.js';
import { table, verdict } from './table.js';

const ENTRIES_PER_SECOND = 50_000;
const SAMPLE_MS = 20;
const BUFFERED = 1_000_000;
const ORIGIN = 'cadastre.example.com/org-7hGt3KmPq9RsVw2X';

const digest = (text) => hash('sha256', text, 'buffer');
const encode = (values) =>
  Object.fromEntries(Object.entries(values).map(([pointer, bytes]) => [pointer, bytes.toString('base64')]));

/** Returns an entry as the trail exports it, with three personal values, and what opens its leaf. */
const createEntry = ({ computeCommitment, computeLeaf }, index) => {
  const request = { 'ip-address': `192.0.2.${index % 256}`, 'user-agent': 'go-tfe terraform/1.13.2 (linux amd64)' };
  const values = {
    '/auth/description': `user-${index % 50}@example.com`,
    '/request/ip-address': request['ip-address'],
    '/request/user-agent': request['user-agent'],
  };
  const number = String(index).padStart(12, '0');
  const entry = {
    id: `0199d2d0-0000-7000-8000-${number}`,
    version: '0',
    type: 'Resource',
    timestamp: new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString(),
    auth: {
      accessor_id: `user-${String(index % 50).padStart(16, '0')}`,
      description: values['/auth/description'],
      type: 'Client',
      impersonator_id: null,
      organization_id: ORIGIN.split('/')[1],
    },
    request: { id: `0199d2d0-0000-4000-8000-${number}`, ...request },
    resource: {
      id: `ws-${String(index % 1_000).padStart(16, '0')}`,
      type: 'workspace',
      action: index % 2 === 0 ? 'lock' : 'unlock',
      meta: { reason: 'an "audit" of the week', name: `workspace-${index % 1_000}` },
    },
  };
  const salt = digest(`salt ${index}`);
  const salts = Object.fromEntries(Object.keys(values).map((pointer) => [pointer, digest(`${pointer} ${index}`)]));
  const commitments = Object.fromEntries(
    Object.keys(values).map((pointer) => [pointer, computeCommitment(salts[pointer], values[pointer])]),
  );
  const opening = { salt: salt.toString('base64'), commitments: encode(commitments), salts: encode(salts) };
  return { line: { index, entry, ...opening }, leaf: computeLeaf({ salt, entry, commitments }) };
};

/** Returns the hashes of all complete subtrees, by their height. */
const hashTree = ({ hashLeaf, hashChildren }, leaves) => {
  const levels = [leaves.map(hashLeaf)];
  for (let below = levels[0]; below.length > 1; below = levels.at(-1)) {
    const above = [];
    for (let n = 0; n + 1 < below.length; n += 2) above.push(hashChildren(below[n], below[n + 1]));
    levels.push(above);
  }
  return levels;
};

/** Writes an export with proofs, and the verifier key of its log. */
const writeExport = async (verifier, folder, entries) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const leaves = Array.from({ length: entries }, (_, index) => createEntry(verifier, index).leaf);
  const levels = hashTree(verifier, leaves);
  const source = (level, index) => Promise.resolve(levels[level][index]);
  const text = verifier.formatCheckpoint({
    origin: ORIGIN,
    size: entries,
    root: await verifier.computeRoot(entries, source),
  });
  const key = verifier.formatVerifierKey(verifier.createVerifierKey(ORIGIN, privateKey));
  await writeFile(join(folder, 'acme.key'), `${key}\n`);
  const file = createWriteStream(join(folder, 'trail.ndjson'));
  let buffer = `${JSON.stringify({ checkpoint: verifier.signNote(text, [{ name: ORIGIN, privateKey }]) })}\n`;
  for (let index = 0; index < entries; index += 1) {
    const hashes = await verifier.proveInclusion(index, entries, source);
    const proof = hashes.map((one) => one.toString('base64'));
    buffer += `${JSON.stringify({ ...createEntry(verifier, index).line, proof })}\n`;
    if (buffer.length < BUFFERED) continue;
    if (!file.write(buffer)) await once(file, 'drain');
    buffer = '';
  }
  file.end(buffer);
  await once(file, 'close');
};

/** Returns the seconds of the command, and its seconds of CPU. */
const runVerify = async (folder, entries) => {
  const command = join(PROJECT, 'dist/apps/cadastre/src/main.js');
  const args = ['audit', 'verify', join(folder, 'trail.ndjson'), '--key', join(folder, 'acme.key')];
  const began = performance.now();
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let [cpu, output] = [0, ''];
  // The kernel forgets the CPU of a process that has ended.
  const sampler = setInterval(() => (cpu = Math.max(cpu, cpuOf(child.pid))), SAMPLE_MS);
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - began) / 1_000;
  clearInterval(sampler);
  if (code !== 0 || !output.startsWith('VERIFIED') || !output.includes(`${entries},`))
    throw new Error(`audit verify has ended with ${code}: ${output}`);
  return { seconds, cpu: cpu / 1_000 };
};

export const verify = async ({ entries, rounds }) => {
  const verifier = await import(pathToFileURL(join(PROJECT, 'dist/libs/packages/trail-verifier/index.js')).href);
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-verify-'));
  try {
    await writeExport(verifier, folder, entries);
    const { size } = await stat(join(folder, 'trail.ndjson'));
    const runs = [];
    for (let round = 0; round < rounds; round += 1) runs.push(await runVerify(folder, entries));
    const rates = {
      'wall clock': { values: runs.map(({ seconds }) => entries / seconds), budget: ENTRIES_PER_SECOND },
      CPU: { values: runs.map(({ cpu }) => entries / cpu), budget: null },
    };
    process.stdout.write(`export of ${entries} entries, ${Math.round(size / 1e6)} MB\n`);
    const rows = Object.entries(rates).map(([name, { values, budget }]) => [
      `entries for a second of ${name}`,
      ...values.map((value) => Math.round(value)),
      (median(values) / ENTRIES_PER_SECOND).toFixed(2),
      ...(budget === null ? [''] : [verdict(median(values) >= budget)]),
    ]);
    const header = ['audit verify', ...runs.map((_, n) => `round ${n + 1}`), `of ${ENTRIES_PER_SECOND}`, ''];
    process.stdout.write(`${table(header, rows)}\n`);
    return Object.entries(rates).map(([metric, { values, budget }]) =>
      figure('verify', 'audit verify', `${entries} entries`, metric, values, { unit: '1/s', better: 'higher', budget }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
