import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FACT_TYPE } from '../../libs/activity/facts/facts/facts.message-handler.js';
import { createFact, registerSource } from '../../libs/activity/facts/spec.js';
import { readTopic, sendToTopic, startKafka, type TestKafka } from '../support/kafka/index.js';
import { waitForTopics } from '../support/kafka/topic-reader.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { freePorts } from '../support/free-ports.js';
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { makeOrganization, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';

const LONG = 240_000;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

type LogLine = { readonly msg: string; readonly traceId?: string; readonly route?: string };

const readLog = (product: Product): readonly LogLine[] =>
  product
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);

const lock = (product: Product, workspace: string): Promise<Response> =>
  fetch(`${product.url}/api/v2/workspaces/${workspace}/actions/lock`, {
    method: 'POST',
    headers: { authorization: `Bearer ${product.adminToken}`, traceparent: `00-${TRACE}-${SPAN}-01` },
  });

describe('a request to separate processes', () => {
  let kafka: TestKafka;
  let database: TestDatabase;
  let collector: OtlpReceiver;
  const products: Product[] = [];

  beforeAll(async () => {
    collector = await startOtlpReceiver();
    [kafka, database] = await Promise.all([startKafka(), freshDatabase()]);
    const settings = {
      DATABASE_URL: database.url,
      CADASTRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      CADASTRE_ADMIN_TOKEN: `test.atlasv1.${randomBytes(24).toString('hex')}`,
      KAFKA_BROKERS: kafka.brokers.join(','),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      LOG_LEVEL: 'info',
      CADASTRE_SHUTDOWN_DELAY_SECONDS: '0',
    };
    for (const name of ['gateway', 'projector', 'publisher'] as const) {
      const product = await launchProduct(settings);
      products.push(product);
      await product.start(name);
    }
  }, LONG);
  afterAll(async () => {
    await Promise.all(products.map((product) => product.remove()));
    await database?.drop();
    await kafka?.stop();
    await collector?.close();
  });

  it(
    'is one trace up to the message in Kafka, and its log line names the trace',
    async () => {
      const [gateway] = products as [Product];
      const api = createApiTestClient(gateway.url, gateway.adminToken);
      await makeOrganization(api, 'acme');
      const workspace = await makeWorkspace(api, 'acme', 'first');
      expect((await lock(gateway, workspace)).status).toBe(200);
      await waitForTopics(kafka.brokers, ['cadastre.workspaces']);
      const messages = await readTopic(kafka.brokers, ['cadastre.workspaces'], (all) =>
        all.some(({ headers }) => headers['ce_type'] === 'cadastre.WorkspaceLocked.v1'),
      );
      const message = messages.find(({ headers }) => headers['ce_type'] === 'cadastre.WorkspaceLocked.v1');
      const find = (name: string) =>
        collector.find(name, (span) => span.traceId === TRACE && span.name.startsWith(name));
      const request = await find('POST ');
      const append = await find('append');
      const trail = await find('follow audit_trail');
      const publication = await find('follow publisher');
      const send = await find('send cadastre.workspaces');
      expect(request.parentId).toBe(SPAN);
      expect(append.parentId).toBe(request.spanId);
      expect(trail.parentId).toBe(append.spanId);
      expect(publication.parentId).toBe(append.spanId);
      expect(send).toMatchObject({ kind: 'producer', parentId: publication.spanId });
      expect(message?.headers['traceparent']).toBe(`00-${TRACE}-${send.spanId}-01`);
      const processes = [request, trail, send].map(({ resource }) => resource);
      expect(processes.map((process) => process['cadastre.process'])).toEqual(['gateway', 'projector', 'publisher']);
      expect(new Set(processes.map((process) => process['service.instance.id'])).size).toBe(3);
      for (const process of processes) {
        expect(process).toMatchObject({ 'service.name': 'cadastre', 'deployment.environment.name': 'test' });
      }
      await waitUntil(() => readLog(gateway).some(({ traceId }) => traceId === TRACE), 'the request is logged');
      expect(readLog(gateway).find(({ traceId }) => traceId === TRACE)).toMatchObject({
        msg: 'request',
        route: '/api/v2/workspaces/:id/actions/lock',
      });
    },
    LONG,
  );

  it(
    'continues the trace of a fact in Kafka',
    async () => {
      const [gateway] = products as [Product];
      const api = createApiTestClient(gateway.url, gateway.adminToken);
      await makeOrganization(api, 'facts');
      await registerSource(api, 'facts');
      const { source, id, time, ...data } = createFact('1');
      const headers = { ce_specversion: '1.0', ce_type: FACT_TYPE, ce_source: source, ce_id: id, ce_time: time };
      const traceId = TRACE.replaceAll('4', '5');
      await waitForTopics(kafka.brokers, ['cadastre.facts', 'cadastre.recorded-facts']);
      await sendToTopic(kafka.brokers, 'cadastre.facts', [
        {
          value: JSON.stringify(data),
          headers: { ...headers, ce_organization: 'facts', traceparent: `00-${traceId}-${SPAN}-01` },
        },
      ]);
      const find = (name: string) =>
        collector.find(name, (span) => span.traceId === traceId && span.name.startsWith(name));
      const received = await find('process cadastre.facts');
      expect(received).toMatchObject({ parentId: SPAN, kind: 'consumer' });
      expect(await find('follow audit_trail')).toMatchObject({ parentId: received.spanId });
      expect(await find('send cadastre.recorded-facts')).toMatchObject({
        parentId: (await find('follow publisher')).spanId,
      });
    },
    LONG,
  );

  it('counts exported spans in the metrics', async () => {
    const text = await (await fetch(`${(products[0] as Product).url}/metrics`)).text();
    expect(text).toMatch(/^cadastre_trace_spans_total\{result="exported"\} [1-9]/m);
  });

  it('has sent its last spans when the processes have stopped', async () => {
    const [gateway] = products as [Product];
    const response = await fetch(`${gateway.url}/api/v2/account/details`, {
      headers: { authorization: `Bearer ${gateway.adminToken}` },
    });
    const [, traceId] = response.headers.get('traceresponse')?.split('-') ?? [];
    expect(await gateway.stop()).toMatchObject({ code: 0 });
    expect(collector.spans.map((span) => span.traceId)).toContain(traceId);
  });
});

describe('workers', () => {
  it(
    'are processes of their own in traces',
    async () => {
      const collector = await startOtlpReceiver();
      const product = await launchProduct({
        CADASTRE_WORKERS: '2',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=pod-1',
        OTEL_BSP_SCHEDULE_DELAY: '50',
      });
      try {
        await product.start();
        const api = createApiTestClient(product.url, product.adminToken);
        await makeOrganization(api, 'acme');
        const { resource } = await collector.find('a request', ({ kind }) => kind === 'server');
        expect(resource).toMatchObject({
          'cadastre.process': 'worker',
          'service.instance.id': `pod-1-${String(resource['process.pid'])}`,
        });
        expect(resource['process.pid']).not.toBe(product.serverPid());
        const follower = await collector.find('a follower', ({ name }) => name.startsWith('follow '));
        expect(follower.resource).toMatchObject({ 'cadastre.process': 'serve', 'service.instance.id': 'pod-1' });
        expect(await product.stop()).toMatchObject({ code: 0 });
      } finally {
        await product.remove();
        await collector.close();
      }
    },
    LONG,
  );
});

/** Makes the process print the address of each file of OpenTelemetry that it loads. */
const PRINT_LOADED = `
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      if (url.includes('/@opentelemetry/')) process.stderr.write('loaded ' + url + '\\n');
      return next(url, context);
    },
  });`;

describe('a server without the address of a collector', () => {
  it(
    'does not load the SDK, and sends and logs no ids of traces',
    async () => {
      const hooks = `data:text/javascript;base64,${Buffer.from(PRINT_LOADED).toString('base64')}`;
      const product = await launchProduct({ NODE_OPTIONS: `--import ${hooks}`, LOG_LEVEL: 'info' });
      try {
        await product.start();
        const api = createApiTestClient(product.url, product.adminToken);
        await makeOrganization(api, 'acme');
        const workspace = await makeWorkspace(api, 'acme', 'first');
        const response = await lock(product, workspace);
        expect(response.headers.get('traceresponse')).toBeNull();
        const { stdout, stderr } = await product.stop();
        expect(stdout).not.toContain(TRACE);
        const packages = new Set(
          [...stderr.matchAll(/^loaded .*\/@opentelemetry\/([^/]+)\//gm)].map(([, name]) => name),
        );
        expect([...packages]).toEqual(['api']);
      } finally {
        await product.remove();
      }
    },
    LONG,
  );
});

describe('a collector that cannot be reached', () => {
  it.each(['refuses connections', 'accepts connections and never answers'])(
    'and %s fails no request, is logged once, and does not prevent a clean stop',
    async (fault) => {
      const [port] = await freePorts();
      const silent = createServer();
      if (fault.startsWith('accepts')) silent.listen(port, '127.0.0.1');
      const product = await launchProduct({
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_BSP_SCHEDULE_DELAY: '10',
        LOG_LEVEL: 'info',
      });
      try {
        await product.start();
        const api = createApiTestClient(product.url, product.adminToken);
        await makeOrganization(api, 'acme');
        const workspace = await makeWorkspace(api, 'acme', 'first');
        for (let n = 0; n < 20; n += 1) {
          expect((await lock(product, workspace)).status).toBe(200);
          expect((await api.post(`/api/v2/workspaces/${workspace}/actions/unlock`)).status).toBe(200);
        }
        const isReported = ({ msg }: LogLine): boolean => msg === 'export of traces failed, will retry';
        await waitUntil(() => readLog(product).some(isReported), 'the failure is logged');
        expect((await lock(product, workspace)).status).toBe(200);
        const text = await (await fetch(`${product.url}/metrics`)).text();
        expect(text).toMatch(/^cadastre_trace_spans_total\{result="failed"\} [1-9]/m);
        expect(readLog(product).filter(isReported)).toHaveLength(1);
        expect(await product.stop()).toMatchObject({ code: 0, signal: null });
      } finally {
        await product.remove();
        if (silent.listening) silent.close();
      }
    },
    LONG,
  );
});
