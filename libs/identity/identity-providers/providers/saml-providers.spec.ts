import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { expectStatus, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { identityProvidersDefinition } from '../identity-providers.module.js';
import { createServiceKey } from '../saml/certificates.crypto.js';

const PATH = '/api/v2/admin/identity-providers';

let server: TestServer;
let site: Server;
let metadataUrl: string;
let certificate: string;
let served: string;

const describeMetadata = (issuer: string): string =>
  `<?xml version="1.0"?><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${issuer}">` +
  `<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor use="signing">` +
  `<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>` +
  certificate.replaceAll(/-----[^-]+-----|\s/g, '') +
  `</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>` +
  `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://id.example.test/slo"/>` +
  `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://id.example.test/post"/>` +
  `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://id.example.test/sso"/>` +
  `</md:IDPSSODescriptor></md:EntityDescriptor>`;

beforeAll(async () => {
  server = await startTestServer();
  certificate = (await createServiceKey(new Date())).certificate;
  site = createServer((_, response) => void response.end(served));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  metadataUrl = `http://localhost:${(site.address() as AddressInfo).port}/metadata`;
});

afterAll(async () => {
  await new Promise((resolve) => site.close(resolve));
  await server.close();
});

const create = (attributes: object) =>
  server.post(PATH, resource('identity-providers', { protocol: 'saml', ...attributes }));
const update = (id: string, attributes: object) =>
  server.patch(`${PATH}/${id}`, resource('identity-providers', attributes));
const errorsOf = ({ status, body }: ApiResponse) => [
  status,
  body.errors.map((error: { detail: string; source?: { pointer: string } }) => [error.source?.pointer, error.detail]),
];
const refusal = (attribute: string, detail: unknown) => [422, [[`/data/attributes/${attribute}`, detail]]];
const typesOf = async (stream: string) => (await server.store.log.stream(stream)).map(({ type }) => type);

describe('a provider with SAML', () => {
  it('is made from its metadata, disabled at first, and shown without its private key', async () => {
    const { body } = expectStatus(await create({ name: 'One', metadata: describeMetadata('urn:one') }), 201);
    const { id, attributes } = body.data;
    const { publicUrl } = server.runtime.settings;
    expect(attributes).toMatchObject({
      protocol: 'saml',
      enabled: false,
      issuer: 'urn:one',
      'client-id': `${publicUrl}/sign-in/saml/${id}/metadata`,
      'sign-in-url': 'https://id.example.test/sso',
      'sign-out-url': 'https://id.example.test/slo',
      certificates: [`${certificate.trim()}\n`],
      'groups-claim': 'MemberOf',
      'username-claim': 'Username',
      'has-client-secret': false,
      'callback-url': `${publicUrl}/sign-in/saml/${id}/acs`,
      'metadata-url': `${publicUrl}/sign-in/saml/${id}/metadata`,
      'back-channel-logout-url': null,
      'service-certificate': expect.stringContaining('BEGIN CERTIFICATE'),
    });
    expect(JSON.stringify([body, await readWholeLog(server.store)])).not.toContain('PRIVATE KEY');
  });

  it('has an event for each change, and one for enabling and disabling', async () => {
    const created = expectStatus(await create({ name: 'Two', metadata: describeMetadata('urn:two') }), 201);
    const id = created.body.data.id as string;
    expectStatus(await update(id, { enabled: true, name: 'Deux' }), 200);
    expectStatus(await update(id, { enabled: true }), 200);
    expectStatus(await update(id, { enabled: false }), 200);
    expectStatus(await server.delete(`${PATH}/${id}`), 204);
    expect(await typesOf(id)).toEqual([
      'SamlConfigurationCreated',
      'SamlConfigurationUpdated',
      'SamlConfigurationEnabled',
      'SamlConfigurationDisabled',
      'SamlConfigurationDestroyed',
    ]);
    expect(await server.database.rows(sql`select id from vault.secrets where id like ${`${id}%`}`)).toEqual([]);
  });

  it('keeps its key if a request clears the secret of a client', async () => {
    const created = expectStatus(await create({ name: 'Kept', metadata: describeMetadata('urn:kept') }), 201);
    const id = created.body.data.id as string;
    expectStatus(await update(id, { 'client-secret': null, enabled: true }), 200);
    const started = await fetch(`${server.url}/sign-in/saml/${id}`, { redirect: 'manual' });
    expect([started.status, started.headers.get('location')]).toEqual([303, expect.stringContaining('&Signature=')]);
  });

  it('ignores comments of metadata, and has at most five certificates of them', async () => {
    const metadata = describeMetadata('urn:many').replace('<md:IDPSSO', '<!-- made by a tool --><md:IDPSSO');
    const key = /<md:KeyDescriptor.*<\/md:KeyDescriptor>/s.exec(metadata)?.[0] ?? '';
    expectStatus(await create({ name: 'Many', metadata: metadata.replace(key, key.repeat(9)) }), 201);
    const keys = await Promise.all(Array.from({ length: 6 }, () => createServiceKey(new Date())));
    const own = certificate.replaceAll(/-----[^-]+-----|\s/g, '');
    const six = keys.map((one) => key.replace(own, one.certificate.replaceAll(/-----[^-]+-----|\s/g, ''))).join('');
    expect(errorsOf(await create({ name: 'Six keys', metadata: metadata.replace(key, six) }))).toEqual(
      refusal('metadata', expect.stringContaining('at most 5 of them')),
    );
  });

  it('reads the metadata at an address once, when the request names it', async () => {
    served = describeMetadata('urn:three');
    const created = expectStatus(await create({ name: 'Three', 'metadata-url': metadataUrl, enabled: true }), 201);
    const { id, attributes } = created.body.data;
    expect([attributes.issuer, attributes.enabled]).toEqual(['urn:three', true]);
    served = served.replace('/sso"', '/sso2"');
    const changed = expectStatus(await update(id as string, { 'metadata-url': metadataUrl }), 200);
    expect(changed.body.data.attributes['sign-in-url']).toBe('https://id.example.test/sso2');
  });

  it('needs what a sign-in needs before it is enabled', async () => {
    const missing = /needs sign-in-url and certificates first$/;
    expect(errorsOf(await create({ name: 'Four', issuer: 'urn:four', enabled: true }))).toEqual(
      refusal('enabled', expect.stringMatching(missing)),
    );
    const { body } = expectStatus(await create({ name: 'Four', issuer: 'urn:four' }), 201);
    expect(errorsOf(await update(body.data.id as string, { enabled: true }))).toEqual(
      refusal('enabled', expect.stringMatching(missing)),
    );
    expect(errorsOf(await create({ name: 'Five' }))).toEqual(refusal('issuer', "Issuer can't be blank"));
  });

  it('keeps its protocol, and has an issuer of its own', async () => {
    const { body } = expectStatus(await create({ name: 'Six', issuer: 'urn:six' }), 201);
    expect(errorsOf(await update(body.data.id as string, { protocol: 'oidc' }))).toEqual(
      refusal('protocol', expect.stringContaining('cannot be changed')),
    );
    expect(errorsOf(await create({ name: 'Seven', issuer: 'urn:six' }))).toEqual(
      refusal('issuer', 'Issuer has already been taken'),
    );
  });

  it.each<[string, object, string, unknown]>([
    ['other XML', { metadata: '<x/>' }, 'metadata', expect.stringContaining('the root is no EntityDescriptor')],
    ['an entity', { metadata: '<!DOCTYPE x><x/>' }, 'metadata', expect.stringContaining('document type')],
    ['no XML', { metadata: 'hello' }, 'metadata', expect.stringContaining('not well-formed')],
    [
      'an insecure address',
      { 'metadata-url': 'http://id.example.test/' },
      'metadata-url',
      expect.stringContaining('https://'),
    ],
    ['a file', { 'metadata-url': 'file:///etc/passwd' }, 'metadata-url', expect.stringContaining('https://')],
    [
      'an insecure page',
      { 'sign-in-url': 'http://id.example.test/' },
      'sign-in-url',
      expect.stringContaining('https://'),
    ],
    [
      'a fragment',
      { 'sign-in-url': 'https://id.example.test/?x#y' },
      'sign-in-url',
      expect.stringContaining('https://'),
    ],
    ['a script', { 'sign-out-url': 'javascript:alert(1)' }, 'sign-out-url', expect.stringContaining('https://')],
    ['a text as certificate', { certificates: ['hello world!'] }, 'certificates', expect.stringContaining('not PEM')],
    [
      'another file as certificate',
      { certificates: ['aGVsbG8='] },
      'certificates',
      expect.stringContaining('cannot be read'),
    ],
    ['a secret', { 'client-secret': 'of-the-client' }, 'client-secret', expect.stringContaining('have none')],
    ['spaces in the issuer', { issuer: 'a b' }, 'issuer', expect.stringContaining('without spaces')],
  ])('is refused with %s', async (_, attributes, attribute, detail) => {
    expect(errorsOf(await create({ name: 'Refused', issuer: 'urn:refused', ...attributes }))).toEqual(
      refusal(attribute, detail),
    );
  });

  it('has settings that other providers do not have', async () => {
    const oidc = {
      protocol: 'oidc',
      name: 'Other',
      issuer: 'https://id.example.com',
      'client-id': 'x',
      enabled: false,
    };
    for (const [attribute, value] of [
      ['sign-in-url', 'https://id.example.com'],
      ['metadata', '<x/>'],
      ['proves-emails', true],
    ] as const) {
      expect(errorsOf(await create({ ...oidc, [attribute]: value }))).toEqual(
        refusal(attribute, `${attribute}: only providers with SAML have it`),
      );
    }
  });

  it('is the same after a rebuild of the view', () => expectViewsMatchLog(server, [identityProvidersDefinition]));
});
