// Remote runs with the executor of the server and the terraform of this machine.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { figure } from './figures.js';
import { cpuOf } from './proc.js';
import { Product } from './product.js';
import { median, percentile } from './statistics.js';
import { table, verdict } from './table.js';

const BUDGETS = { firstByte: 300, line: 1_500, overhead: 1_500, waiting: 5 };
const ORGANIZATION = 'bench-runs';
const LINES = 100;
const WAITING_RUNS = 1_000;
const POLL_MS = 10;
const NOTHING = 'output "nothing" { value = 1 }\n';

const readVersion = () => {
  try {
    return JSON.parse(execFileSync('terraform', ['version', '-json'], { encoding: 'utf8' })).terraform_version;
  } catch {
    throw new Error('runs needs terraform on the PATH');
  }
};

const createArchive = async (configuration) => {
  const archive = pack();
  archive.entry({ name: 'main.tf' }, configuration);
  archive.finalize();
  return gzipSync(await buffer(archive));
};

/** A product with an organization, and a person with a CLI. */
class Site {
  static async open(env) {
    const product = await Product.of();
    const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-cli-'));
    const site = new Site(product, folder);
    try {
      await product.start({ CADASTRE_PUBLIC_URL: product.url, ...env });
      await site.post('organizations', 'organizations', { name: ORGANIZATION, email: 'bench@example.com' });
      return site;
    } catch (error) {
      await site.close();
      throw error;
    }
  }

  constructor(product, folder) {
    this.product = product;
    this.folder = folder;
    this.version = readVersion();
  }

  async post(path, type, attributes, relationships = {}) {
    const body = { data: { type, attributes, relationships } };
    return JSON.parse(await this.product.request('POST', `/api/v2/${path}`, body)).data;
  }

  async get(path) {
    return JSON.parse(await this.product.request('GET', `/api/v2/${path}`)).data;
  }

  async createWorkspace(name, mode, configuration = NOTHING) {
    const attributes = { name, 'execution-mode': mode, 'terraform-version': this.version };
    const { id } = await this.post(`organizations/${ORGANIZATION}/workspaces`, 'workspaces', attributes);
    const options = { 'auto-queue-runs': false };
    const created = await this.post(`workspaces/${id}/configuration-versions`, 'configuration-versions', options);
    await this.product.upload(created.attributes['upload-url'], await createArchive(configuration));
    return id;
  }

  createRun(workspace) {
    const data = { type: 'workspaces', id: workspace };
    return this.post('runs', 'runs', { 'plan-only': true }, { workspace: { data } });
  }

  /** Starts terraform in a folder that is connected to a workspace. */
  async startCli(workspace, configuration, ...args) {
    const { host } = new URL(this.product.url);
    const folder = await mkdtemp(join(this.folder, 'work-'));
    const cloud = `terraform {\n  cloud {\n    hostname = "${host}"\n    organization = "${ORGANIZATION}"\n    workspaces { name = "${workspace}" }\n  }\n}\n`;
    await writeFile(join(folder, 'main.tf'), `${cloud}${configuration}`);
    const rc = join(this.folder, 'rc');
    const services = `services = { "tfe.v2" = "${this.product.url}/api/v2/" }`;
    await writeFile(rc, `credentials "${host}" { token = "${this.product.token}" }\nhost "${host}" { ${services} }\n`);
    const env = { PATH: process.env.PATH, HOME: this.folder, TF_CLI_CONFIG_FILE: rc, CHECKPOINT_DISABLE: '1' };
    execFileSync('terraform', ['init', '-input=false'], { cwd: folder, env, stdio: 'pipe' });
    return spawn('terraform', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  }

  async close() {
    await this.product.remove();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const waitForEnd = async (child) => {
  child.stdout.resume();
  const [code] = await new Promise((resolve) => child.once('exit', (...result) => resolve(result)));
  if (code !== 0) throw new Error(`terraform ended with ${code}`);
};

/** Returns the ms from the request for a run to the first byte of its log. */
const measureFirstByte = async (site, workspace) => {
  const began = performance.now();
  const run = await site.createRun(workspace);
  const plan = await site.get(`plans/${run.relationships.plan.data.id}`);
  const url = plan.attributes['log-read-url'];
  for (;;) {
    const log = await (await fetch(`${url}?limit=64&offset=0`)).text();
    // The first character marks the start, also of a log without output.
    if (log.length > 1) break;
    await delay(POLL_MS);
  }
  const time = performance.now() - began;
  while ((await site.get(`runs/${run.id}`)).attributes.status !== 'planned_and_finished') await delay(POLL_MS * 10);
  return time;
};

/** Returns the ms from each line that a provisioner prints to its arrival in the terminal. */
const measureLines = async (site) => {
  await site.createWorkspace('lines', 'remote');
  const command = `for n in $(seq ${LINES}); do echo "printed at $(date +%s%3N)"; sleep 0.1; done`;
  const configuration = `resource "terraform_data" "lines" {\n  provisioner "local-exec" { command = ${JSON.stringify(command)} }\n}\n`;
  const child = await site.startCli('lines', configuration, 'apply', '-input=false', '-auto-approve', '-no-color');
  const times = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const match = /\(local-exec\): printed at (\d+)/.exec(line);
    if (match) times.push(Date.now() - Number(match[1]));
  });
  await waitForEnd(child);
  if (times.length !== LINES) throw new Error(`${times.length} of ${LINES} lines have arrived`);
  return times;
};

const measurePlan = async (site, workspace) => {
  const child = await site.startCli(workspace, NOTHING, 'plan', '-input=false');
  const began = performance.now();
  await waitForEnd(child);
  return performance.now() - began;
};

const measureExecutor = async (rounds) => {
  const site = await Site.open({ CADASTRE_EXECUTOR: 'on' });
  try {
    const workspace = await site.createWorkspace('first-byte', 'remote');
    await measureFirstByte(site, workspace);
    const firstBytes = [];
    for (let round = 0; round < rounds; round += 1) firstBytes.push(await measureFirstByte(site, workspace));
    const lines = await measureLines(site);
    await site.createWorkspace('local', 'local');
    await site.createWorkspace('remote', 'remote');
    const overheads = [];
    for (let round = 0; round < rounds; round += 1) {
      const local = await measurePlan(site, 'local');
      overheads.push((await measurePlan(site, 'remote')) - local);
    }
    return { firstBytes, lines, overheads };
  } finally {
    await site.close();
  }
};

/** Returns the percentage of a processor that the server uses for runs that wait. No executor takes them. */
const measureWaiting = async (seconds, rounds) => {
  const site = await Site.open({ CADASTRE_EXECUTOR: 'off' });
  try {
    const pool = await site.post('admin/agent-pools', 'agent-pools', { name: 'bench' });
    const { attributes } = await site.post(`agent-pools/${pool.id}/authentication-tokens`, 'authentication-tokens', {
      description: 'bench',
    });
    const workspaces = [];
    for (let n = 0; n < 10; n += 1) workspaces.push(await site.createWorkspace(`waiting-${n}`, 'remote'));
    for (let n = 0; n < WAITING_RUNS; n += 1) {
      const data = { type: 'workspaces', id: workspaces[n % workspaces.length] };
      await site.post('runs', 'runs', {}, { workspace: { data } });
    }
    // An executor that accepts no plan waits beside the runs.
    const agent = await fetch(`${site.product.url}/api/v2/agents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${attributes.token}`, 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify({ data: { type: 'agents', attributes: { name: 'bench', 'protocol-version': '1.0' } } }),
    });
    if (agent.status !== 201) throw new Error(`the agent was answered ${agent.status}`);
    const { data } = await agent.json();
    const claim = { data: { type: 'agents', attributes: { phases: ['apply'], 'wait-seconds': 30 } } };
    const waiting = new AbortController();
    const claims = (async () => {
      while (!waiting.signal.aborted)
        await site.product.request('POST', `/api/v2/agents/${data.id}/actions/claim`, claim, attributes.token);
    })();
    const shares = [];
    for (let round = 0; round < rounds; round += 1) {
      await site.product.cpuWhenQuiet();
      const [began, before] = [performance.now(), cpuOf(site.product.pid)];
      await delay(seconds * 1_000);
      shares.push(((cpuOf(site.product.pid) - before) / (performance.now() - began)) * 100);
    }
    waiting.abort();
    await Promise.race([claims.catch(() => undefined), delay(0)]);
    return shares;
  } finally {
    await site.close();
  }
};

export const runs = async ({ rounds, seconds }) => {
  const { firstBytes, lines, overheads } = await measureExecutor(rounds);
  const waiting = await measureWaiting(seconds, 3);
  const p99 = percentile(lines, 0.99);
  const rows = [
    ['request for a run to the first byte of its log, p50, ms', median(firstBytes), BUDGETS.firstByte],
    ['line of terraform to the terminal, p99, ms', p99, BUDGETS.line],
    ['remote plan without changes, longer than a local one, ms', median(overheads), BUDGETS.overhead],
    [`server while ${WAITING_RUNS} runs wait, % of a processor`, median(waiting), BUDGETS.waiting],
  ];
  const cells = rows.map(([name, value, budget]) => [name, value.toFixed(1), `≤ ${budget}`, verdict(value <= budget)]);
  process.stdout.write(`${table(['', 'measured', 'budget', ''], cells)}\n`);
  const lower = (unit, budget) => ({ unit, better: 'lower', budget });
  return [
    figure('runs', 'first byte of a log', 'p50', 'time', firstBytes, lower('ms', BUDGETS.firstByte)),
    figure('runs', 'line in the terminal', 'p99', 'time', [p99], lower('ms', BUDGETS.line)),
    figure('runs', 'remote plan', 'overhead', 'time', overheads, lower('ms', BUDGETS.overhead)),
    figure('runs', 'waiting runs', WAITING_RUNS, 'CPU', waiting, lower('%', BUDGETS.waiting)),
  ];
};
