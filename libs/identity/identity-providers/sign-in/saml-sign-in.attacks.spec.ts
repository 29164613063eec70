import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SESSION_COOKIE } from '#api/access';
import { sql } from '#platform/kernel';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import {
  addSamlProvider,
  signElement,
  type SamlForgery,
  type SamlKey,
  type TestSamlProvider,
} from '../../../../test/support/saml-provider.js';
import { expectStatus, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createServiceKey } from '../saml/certificates.crypto.js';

const UNSIGNED = 'no certificate of the provider has signed it';
const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const FAILURE = 'A sign-in with an identity provider failed';

const clock = new AdjustableClock();
const warn = jest.spyOn(Logger.prototype, 'warn');
let server: TestServer;
let acme: TestSamlProvider;
let rival: TestSamlProvider;
let otherKey: SamlKey;
let serviceCertificate: string;

beforeAll(async () => {
  server = await startTestServer({ clock });
  acme = await addSamlProvider(server, () => clock.now());
  rival = await addSamlProvider(server, () => clock.now(), { name: 'Rival', issuer: 'https://rival.example.test' });
  otherKey = await createServiceKey(new Date());
  const document = expectStatus(await server.get(`/api/v2/admin/identity-providers/${acme.id}`), 200);
  serviceCertificate = document.body.data.attributes['service-certificate'] as string;
});

afterAll(async () => {
  warn.mockRestore();
  await server.close();
});

afterEach(() => server.database.rows(sql`delete from sign_in.attempts`));

const minutes = (count: number): Date => new Date(clock.now().getTime() + count * 60_000);
const countEvents = async () => (await readWholeLog(server.store)).length;

/** Expects that the response signs nobody in and appends nothing, for this reason. */
const expectRefusal = async (forgery: SamlForgery, reason: string, status = 400): Promise<void> => {
  const client = acme.open();
  const before = await countEvents();
  warn.mockClear();
  const response = await acme.signIn(client, forgery);
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
  expect(client.getCookie(SESSION_COOKIE)).toBeUndefined();
  expect(await countEvents()).toBe(before);
  expect(warn.mock.calls).toContainEqual([FAILURE, expect.objectContaining({ provider: acme.id, reason })]);
};

const expectSignIn = async (forgery: SamlForgery): Promise<void> => {
  const client = acme.open();
  expect((await acme.signIn(client, forgery)).status).toBe(303);
  expect(client.getCookie(SESSION_COOKIE)).toBeDefined();
};

const ASSERTION = /<saml:Assertion .*<\/saml:Assertion>/s;
const SIGNATURE = /<ds:Signature.*<\/ds:Signature>/s;
const assertionOf = (xml: string): string => ASSERTION.exec(xml)?.[0] ?? '';
const signatureOf = (xml: string): string => SIGNATURE.exec(xml)?.[0] ?? '';
const forge = (assertion: string): string => assertion.replace(SIGNATURE, '').replace('>ada<', '>admin<');
const withNewId = (assertion: string): string => assertion.replace(/ ID="[^"]+"/, ' ID="_evil"');

describe('without an attack, a response', () => {
  it('signs a person in', () => expectSignIn({}));
  it('may be encrypted', () => expectSignIn({ encryptsFor: serviceCertificate }));
  it('may have a clock that is 50 seconds ahead', () =>
    expectSignIn({ issuedAt: new Date(clock.now().getTime() + 50_000) }));
});

describe('a wrapped signature is refused', () => {
  it.each<[string, string, (xml: string) => string]>([
    [
      'a forged assertion before the signed one',
      'there are several assertions',
      (xml) => xml.replace(ASSERTION, (own) => withNewId(forge(own)) + own),
    ],
    [
      'a forged assertion after the signed one',
      'there are several assertions',
      (xml) => xml.replace(ASSERTION, (own) => own + withNewId(forge(own))),
    ],
    [
      'the signed assertion inside a forged one',
      'there are several assertions',
      (xml) =>
        xml.replace(ASSERTION, (own) => withNewId(forge(own)).replace('</saml:Assertion>', `${own}</saml:Assertion>`)),
    ],
    [
      'the signed assertion as an object of the signature in a forged one',
      'there are several assertions',
      (xml) =>
        xml.replace(ASSERTION, (own) =>
          withNewId(forge(own)).replace(
            '</saml:Issuer>',
            `</saml:Issuer>${signatureOf(own).replace('</ds:Signature>', `<ds:Object>${own.replace(SIGNATURE, '')}</ds:Object></ds:Signature>`)}`,
          ),
        ),
    ],
    [
      'the signed assertion in an extension, and a forged one with the same ID',
      'there are several assertions',
      (xml) =>
        xml.replace(
          ASSERTION,
          (own) =>
            `<samlp:Extensions>${own}</samlp:Extensions>${forge(own).replace('</saml:Issuer>', `</saml:Issuer>${signatureOf(own)}`)}`,
        ),
    ],
    [
      'the signature of the assertion beside it',
      'the Assertion is not signed',
      (xml) => xml.replace(ASSERTION, (own) => `${signatureOf(own)}${forge(own)}`),
    ],
    [
      'a forged response around the signed one',
      'there are several assertions',
      (xml) => {
        const outer = xml.replace(ASSERTION, (own) => withNewId(forge(own)));
        return outer.replace('</samlp:Response>', `<samlp:Extensions>${xml}</samlp:Extensions></samlp:Response>`);
      },
    ],
    [
      'a second signature in the assertion',
      'Assertion has several elements Signature',
      (xml) => xml.replace(SIGNATURE, (own) => own + own),
    ],
    [
      'a second reference',
      'SignedInfo has several elements Reference',
      (xml) => xml.replace(/<ds:Reference.*<\/ds:Reference>/s, (own) => own + own),
    ],
    [
      'another algorithm before the signed part',
      'the signature has unknown parts',
      (xml) =>
        xml.replace(
          '<ds:SignedInfo>',
          '<x:y xmlns:x="u"><x:SignatureMethod Algorithm="http://www.w3.org/2000/09/xmldsig#rsa-sha1"/></x:y><ds:SignedInfo>',
        ),
    ],
    [
      'a reference to the whole document',
      'the signature is not that of the Assertion',
      (xml) => xml.replace(/URI="#[^"]+"/, 'URI=""'),
    ],
    [
      'a second subject',
      'it differs from what was signed',
      (xml) =>
        xml.replace('<saml:Subject>', '<saml:Subject><saml:NameID>admin</saml:NameID></saml:Subject><saml:Subject>'),
    ],
    ['a changed name', 'it differs from what was signed', (xml) => xml.replace('>ada<', '>admin<')],
  ])('%s', (_, reason, changeResponse) => expectRefusal({ changeResponse }, reason));

  it('an encrypted assertion beside a plain one', () =>
    expectRefusal(
      {
        encryptsFor: serviceCertificate,
        changeResponse: (xml) =>
          xml.replace(
            '</samlp:Response>',
            `${withNewId(forge(assertionOf(decode(acme.answer({ id: '_x' })))))}</samlp:Response>`,
          ),
      },
      'there are several assertions',
    ));
});

const decode = (encoded: string): string => Buffer.from(encoded, 'base64').toString();

describe('a signature is refused', () => {
  it.each<[string, string, SamlForgery]>([
    ['that is missing', 'the Assertion is not signed', { signature: { of: 'none' } }],
    [
      'of the response, with an assertion that has none',
      'the Assertion is not signed',
      { signature: { of: 'response' } },
    ],
    [
      'with SHA-1',
      'SignatureMethod has an algorithm that is not accepted',
      { signature: { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' } },
    ],
    [
      'with a digest of SHA-1',
      'DigestMethod has an algorithm that is not accepted',
      { signature: { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' } },
    ],
    [
      'whose algorithm is written over',
      'SignatureMethod has an algorithm that is not accepted',
      {
        changeResponse: (xml) =>
          xml.replace('xmldsig-more#rsa-sha256', 'xmldsig#rsa-sha1').replace('2001/04/xmldsig#', '2000/09/xmldsig#'),
      },
    ],
    ['of an encrypted assertion that is not signed', 'the Assertion is not signed', { signature: { of: 'none' } }],
  ])('%s', (title, reason, forgery) =>
    expectRefusal(title.includes('encrypted') ? { ...forgery, encryptsFor: serviceCertificate } : forgery, reason),
  );

  it('of another key, also if it brings its certificate', async () => {
    await expectRefusal({ signature: { key: otherKey } }, UNSIGNED);
    await expectRefusal({ signature: { key: rival.provider.key } }, UNSIGNED);
  });

  it('with HMAC and the public certificate as its key', () =>
    expectRefusal(
      {
        signature: {
          algorithm: 'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
          hmacKey: acme.provider.key.certificate,
        },
      },
      'SignatureMethod has an algorithm that is not accepted',
    ));

  it('of SHA-1 in an encrypted assertion', () =>
    expectRefusal(
      {
        encryptsFor: serviceCertificate,
        signature: { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' },
      },
      'SignatureMethod has an algorithm that is not accepted',
    ));

  it('whose key the administrator has removed', async () => {
    const path = `/api/v2/admin/identity-providers/${acme.id}`;
    const change = (certificate: string) =>
      server.patch(path, resource('identity-providers', { certificates: [certificate] }));
    expectStatus(await change(otherKey.certificate), 200);
    await expectRefusal({}, UNSIGNED);
    await expectSignIn({ signature: { key: otherKey } });
    expectStatus(await change(acme.provider.key.certificate), 200);
  });
});

describe('an encrypted assertion is refused', () => {
  it('with the padding of PKCS #1 v1.5', () =>
    expectRefusal(
      { encryptsFor: serviceCertificate, keyTransport: 'rsa-1_5' },
      'the key must be encrypted with RSA-OAEP',
    ));
  it('for another key', () =>
    expectRefusal({ encryptsFor: otherKey.certificate }, 'the assertion cannot be decrypted'));
});

describe('an assertion is refused', () => {
  it.each<[string, string, () => SamlForgery]>([
    ['for another audience', 'the assertion is for another audience', () => ({ audience: rival.provider.audience })],
    ['for no audience', 'the assertion is for another audience', () => ({ audience: null })],
    ['for another recipient', 'the assertion is for another recipient', () => ({ recipient: rival.callback })],
    ['of another issuer', 'the assertion is of another issuer', () => ({ issuer: rival.provider.issuer })],
    ['of another request', 'the assertion answers another request', () => ({ confirmedFor: '_other' })],
    ['that is too old', 'Conditions is too old', () => ({ issuedAt: minutes(-10), notOnOrAfter: minutes(-2) })],
    ['that was issued in the future', 'the assertion was issued in the future', () => ({ issuedAt: minutes(2) })],
    [
      'about a transient name',
      'the NameID is transient, so it identifies nobody at the next sign-in',
      () => ({ subjectFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }),
    ],
    [
      'about a name of another provider',
      'the NameID is of another provider',
      () => ({ subjectFormat: `${PERSISTENT}" NameQualifier="${rival.provider.issuer}` }),
    ],
    [
      'about a name for another service',
      'the NameID is for another service',
      () => ({ subjectFormat: `${PERSISTENT}" SPNameQualifier="${rival.provider.audience}` }),
    ],
    ['without a name', 'the NameID is not 1 to 255 visible characters', () => ({ subject: '' })],
  ])('%s', (_, reason, make) => expectRefusal(make(), reason));
});

describe('a response is refused', () => {
  it.each<[string, string, SamlForgery, number?]>([
    ['to another request', 'the response answers another request', { responseTo: '_other' }],
    [
      'for another destination',
      'the response is for another destination',
      { destination: 'https://other.example.test/acs' },
    ],
    ['with an error of the provider', 'Responder', { status: 'urn:oasis:names:tc:SAML:2.0:status:Responder' }, 403],
    [
      'with a comment in the name',
      'the XML has a comment, a section or a document type',
      { subject: 'ada<!-- -->@evil.test' },
    ],
    [
      'with a section in the name',
      'the XML has a comment, a section or a document type',
      { subject: '<![CDATA[ada]]>' },
    ],
    [
      'with a processing instruction',
      'the XML has a comment, a section or a document type',
      { changeResponse: (xml) => xml.replace('>ada<', '>ada<?x y?><') },
    ],
    [
      'with an external entity',
      'the XML has a comment, a section or a document type',
      {
        changeResponse: (xml) =>
          `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${xml.replace('>ada<', '>&x;<')}`,
      },
    ],
    [
      'with entities of entities',
      'the XML has a comment, a section or a document type',
      {
        changeResponse: (xml) =>
          `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${xml.replace('>ada<', '>&b;<')}`,
      },
    ],
    [
      'with an unknown entity',
      'the XML is not well-formed',
      { changeResponse: (xml) => xml.replace('>ada<', '>&unknown;<') },
    ],
    [
      'with a tag that does not end',
      'it differs from what was signed',
      { changeResponse: (xml) => xml.replace('</saml:Subject>', '') },
    ],
    ['with two roots', 'the XML is not well-formed', { changeResponse: (xml) => xml + xml }],
    [
      'with too many levels',
      'the XML has more than 40 levels',
      {
        changeResponse: (xml) =>
          xml.replace('</samlp:Status>', `${'<x>'.repeat(900)}${'</x>'.repeat(900)}</samlp:Status>`),
      },
    ],
    [
      'with too many elements',
      'the XML has more than 2000 elements',
      { changeResponse: (xml) => xml.replace('</samlp:Status>', `${'<x/>'.repeat(11_000)}</samlp:Status>`) },
    ],
    [
      'with many prefixes of namespaces',
      'the XML declares more than 20 prefixes',
      {
        changeResponse: (xml) =>
          xml.replace(
            '<samlp:Status>',
            `<samlp:Status ${Array.from({ length: 39 }, (_, n) => `xmlns:a${n}="u"`).join(' ')}>`,
          ),
      },
    ],
    [
      'with a sign in an attribute that hides the others',
      'the XML is not well-formed',
      {
        changeResponse: (xml) =>
          xml.replace(
            '<samlp:Status>',
            `<samlp:Status ${Array.from({ length: 39 }, (_, n) => `xmlns:a${n}="<"`).join(' ')}>`,
          ),
      },
    ],
    [
      'with many attributes',
      'an element has more than 40 attributes',
      {
        changeResponse: (xml) =>
          xml.replace(
            '<samlp:Status>',
            `<samlp:Status ${Array.from({ length: 41 }, (_, n) => `a${n}="u"`).join(' ')}>`,
          ),
      },
    ],
    ['that is empty', 'the XML is no response', { changeResponse: () => '<x/>' }],
  ])('%s', (_, reason, forgery, status = 400) => expectRefusal(forgery, reason, status));

  it('with a body that is too large', async () => {
    const client = acme.open();
    const request = await acme.start(client);
    expect((await acme.post(client, request, 'A'.repeat(600_000))).status).toBe(413);
    expect((await acme.post(client, request, 'A'.repeat(400_000))).status).toBe(400);
  });

  it('without a look at it, while the address must wait', async () => {
    const statuses = [];
    for (let attempt = 0; attempt < 52; attempt += 1)
      statuses.push((await acme.signIn(acme.open(), { signature: { key: otherKey } })).status);
    expect(statuses).toContain(429);
    const client = acme.open();
    const request = await acme.start(client);
    const nextAt = new Date(clock.now().getTime() + 600_000);
    await server.database.rows(sql`update sign_in.attempts set next_at = ${nextAt}`);
    warn.mockClear();
    expect((await acme.post(client, request, acme.answer(request, { signature: { key: otherKey } }))).status).toBe(429);
    expect((await acme.post(client, request, acme.answer(request))).status).toBe(429);
    expect(warn.mock.calls.filter(([message]) => message === FAILURE)).toEqual([]);
    // The sign-in has not ended, so the same response counts later.
    await server.database.rows(sql`delete from sign_in.attempts`);
    expect((await acme.post(client, request, acme.answer(request))).status).toBe(303);
  });

  it('at the second time, also by another process, and in another browser', async () => {
    const client = acme.open();
    const request = await acme.start(client);
    const cookie = client.getCookie('__Host-cadastre-oidc') ?? '';
    const response = acme.answer(request);
    expect((await acme.post(acme.open(), request, response)).status).toBe(400);
    expect((await acme.post(client, request, response)).status).toBe(303);
    const again = acme.open();
    // The thief has the cookie too. Postgres knows that the sign-in has ended.
    again.setCookie('__Host-cadastre-oidc', cookie);
    expect((await acme.post(again, request, response)).status).toBe(400);
    expect(again.getCookie(SESSION_COOKIE)).toBeUndefined();
  });

  it('that nobody has requested', async () => {
    const client = acme.open();
    const response = acme.answer({ id: '_nobody' });
    expect((await acme.post(client, { relayState: '' }, response)).status).toBe(400);
  });

  it('that another site sends on with the cookies of the browser', async () => {
    const client = acme.open();
    const request = await acme.start(client);
    const form = { SAMLResponse: acme.answer(request), RelayState: request.relayState };
    const foreign = { origin: 'https://evil.example.test' };
    expect((await client.post(`/sign-in/saml/${acme.id}/finish`, form, foreign)).status).toBe(403);
  });

  it('at the address of another provider', async () => {
    const client = acme.open();
    const request = await acme.start(client);
    expect((await rival.post(client, request, rival.answer(request))).status).toBe(400);
  });
});

describe('a signed message of another kind', () => {
  it('is no response', async () => {
    const client = acme.open();
    const request = await acme.start(client);
    const message = signElement(
      assertionOf(decode(acme.answer(request))).replace(SIGNATURE, ''),
      'Assertion',
      acme.provider.key,
    );
    expect((await acme.post(client, request, Buffer.from(message).toString('base64'))).status).toBe(400);
  });
});
