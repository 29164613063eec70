import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { createServiceKey } from '../../libs/identity/identity-providers/saml/certificates.crypto.js';
import { expectStatus, resource } from './seeds.js';
import { FormClient } from './sign-in.js';
import type { SignInSite } from './identity-providers.js';
import type { ApiTestClient } from './server.js';

const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion';
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';

export type SamlKey = Awaited<ReturnType<typeof createServiceKey>>;

/** What a test changes in an otherwise valid response. */
export type SamlForgery = {
  readonly subject?: string;
  readonly subjectFormat?: string;
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  readonly issuer?: string;
  readonly audience?: string | null;
  readonly recipient?: string;
  readonly destination?: string;
  readonly responseTo?: string;
  readonly confirmedFor?: string;
  readonly issuedAt?: Date;
  readonly notOnOrAfter?: Date;
  readonly authenticatedAt?: Date;
  readonly status?: string;
  readonly sessionIndex?: string;
  readonly sessionEnd?: Date;
  readonly signature?: SignatureForgery;
  /** Changes the signed assertion, and the whole response afterwards. */
  readonly changeAssertion?: (xml: string) => string;
  readonly changeResponse?: (xml: string) => string;
  /** PEM of the key with which the assertion is encrypted. */
  readonly encryptsFor?: string;
  readonly keyTransport?: 'rsa-1_5';
};

type SignatureForgery = {
  /** `response`: the response is signed instead of the assertion. */
  readonly of?: 'assertion' | 'response' | 'none';
  readonly key?: SamlKey;
  readonly algorithm?: string;
  readonly digest?: string;
  /** Key of an HMAC. */
  readonly hmacKey?: string;
};

const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

/** Signs the element with this local name, which has an ID. The signature follows its issuer. */
export const signElement = (xml: string, element: string, key: SamlKey, forgery: SignatureForgery = {}): string => {
  const { algorithm = RSA_SHA256, digest = SHA256, hmacKey } = forgery;
  const signer = new SignedXml({
    privateKey: hmacKey ?? key.privateKey,
    signatureAlgorithm: algorithm,
    canonicalizationAlgorithm: EXCLUSIVE,
    idAttribute: 'ID',
  });
  if (hmacKey !== undefined) signer.enableHMAC();
  const transforms = ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', EXCLUSIVE];
  signer.addReference({ xpath: `//*[local-name(.)='${element}']`, transforms, digestAlgorithm: digest });
  const reference = `//*[local-name(.)='${element}']/*[local-name(.)='Issuer']`;
  signer.computeSignature(xml, { location: { reference, action: 'after' }, prefix: 'ds' });
  return signer.getSignedXml();
};

const encrypt = (xml: string, publicKey: string, keyTransport?: 'rsa-1_5'): string => {
  const [key, iv] = [randomBytes(32), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const content = Buffer.concat([iv, cipher.update(xml), cipher.final(), cipher.getAuthTag()]).toString('base64');
  const padding = keyTransport ? constants.RSA_PKCS1_PADDING : constants.RSA_PKCS1_OAEP_PADDING;
  const wrapped = publicEncrypt({ key: publicKey, padding, oaepHash: 'sha1' }, key).toString('base64');
  const transport = `http://www.w3.org/2001/04/xmlenc#${keyTransport ?? 'rsa-oaep-mgf1p'}`;
  return (
    `<saml:EncryptedAssertion xmlns:saml="${ASSERTION}" xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"><xenc:EncryptedData>` +
    `<xenc:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/>` +
    `<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="${transport}"/>` +
    `<xenc:CipherData><xenc:CipherValue>${wrapped}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey></ds:KeyInfo>` +
    `<xenc:CipherData><xenc:CipherValue>${content}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData></saml:EncryptedAssertion>`
  );
};

const renderAttributes = (attributes: NonNullable<SamlForgery['attributes']>): string =>
  Object.entries(attributes)
    .map(
      ([name, values]) =>
        `<saml:Attribute Name="${name}">` +
        values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('') +
        `</saml:Attribute>`,
    )
    .join('');

type SamlProvider = { readonly id: string; readonly issuer: string; readonly key: SamlKey; readonly audience: string };

/** The request that a browser brought to a provider. */
type SamlRequest = { readonly id: string; readonly xml: string; readonly relayState: string };

const MINUTE = 60_000;

/** A provider with SAML of a test, and a client of it: it answers requests as the test wants. */
export class TestSamlProvider {
  constructor(
    private readonly site: SignInSite,
    readonly provider: SamlProvider,
    private readonly clock: () => Date,
  ) {}

  get id(): string {
    return this.provider.id;
  }

  get callback(): string {
    return `${this.site.runtime.settings.publicUrl}/sign-in/saml/${this.id}/acs`;
  }

  open(): FormClient {
    return new FormClient(this.site.url, this.site.runtime.settings.publicUrl);
  }

  /** Starts a sign-in in a browser. Returns the request that the provider gets. */
  async start(client: FormClient, path = `/sign-in/saml/${this.id}`): Promise<SamlRequest> {
    const response = await client.get(path);
    if (response.status !== 303) throw new Error(`no redirect, but status ${response.status}`);
    const query = new URL(response.headers.get('location') ?? '').searchParams;
    const xml = inflateRawSync(Buffer.from(query.get('SAMLRequest') ?? '', 'base64')).toString();
    return { xml, relayState: query.get('RelayState') ?? '', id: / ID="([^"]+)"/.exec(xml)?.[1] ?? '' };
  }

  /** Returns the response of the provider, as Base64. */
  answer({ id }: Pick<SamlRequest, 'id'>, forgery: SamlForgery = {}): string {
    const { signature = {}, encryptsFor, changeAssertion, changeResponse } = forgery;
    const key = signature.key ?? this.provider.key;
    const plain = this.renderAssertion(id, forgery);
    const signed =
      (signature.of ?? 'assertion') === 'assertion' ? signElement(plain, 'Assertion', key, signature) : plain;
    const assertion = changeAssertion ? changeAssertion(signed) : signed;
    const inside = encryptsFor === undefined ? assertion : encrypt(assertion, encryptsFor, forgery.keyTransport);
    const response = this.renderResponse(id, forgery, inside);
    const whole = signature.of === 'response' ? signElement(response, 'Response', key, signature) : response;
    return Buffer.from(changeResponse ? changeResponse(whole) : whole).toString('base64');
  }

  /** Posts a response as the provider does, and sends it on as the page does. */
  async post(client: FormClient, request: Pick<SamlRequest, 'relayState'>, response: string): Promise<Response> {
    const form = { SAMLResponse: response, RelayState: request.relayState };
    const page = await client.post(`/sign-in/saml/${this.id}/acs`, form, { origin: 'null' });
    if (page.status !== 200) return page;
    const [, action = ''] = /<form method="post" action="([^"]+)" data-continue/.exec(await page.text()) ?? [];
    return client.post(action, form);
  }

  async signIn(client: FormClient, forgery: SamlForgery = {}, path?: string): Promise<Response> {
    const request = await this.start(client, path);
    return this.post(client, request, this.answer(request, forgery));
  }

  private renderAssertion(requestId: string, forgery: SamlForgery): string {
    const now = forgery.issuedAt ?? this.clock();
    const stated = {
      issuer: this.provider.issuer,
      audience: this.provider.audience,
      subject: 'ada',
      subjectFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      confirmedFor: requestId,
      recipient: this.callback,
      notOnOrAfter: new Date(now.getTime() + 5 * MINUTE),
      authenticatedAt: now,
      sessionIndex: 'session-1',
      attributes: {},
      ...forgery,
    };
    const [issued, end] = [now.toISOString(), stated.notOnOrAfter.toISOString()];
    const sessionEnd = forgery.sessionEnd ? ` SessionNotOnOrAfter="${forgery.sessionEnd.toISOString()}"` : '';
    const audiences =
      stated.audience === null
        ? ''
        : `<saml:AudienceRestriction><saml:Audience>${stated.audience}</saml:Audience></saml:AudienceRestriction>`;
    return (
      `<saml:Assertion xmlns:saml="${ASSERTION}" ID="_a${requestId}" Version="2.0" IssueInstant="${issued}">` +
      `<saml:Issuer>${stated.issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${stated.subjectFormat}">${stated.subject}</saml:NameID>` +
      `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData ` +
      `InResponseTo="${stated.confirmedFor}" NotOnOrAfter="${end}" Recipient="${stated.recipient}"/>` +
      `</saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${issued}" NotOnOrAfter="${end}">` +
      `${audiences}</saml:Conditions><saml:AuthnStatement AuthnInstant="${stated.authenticatedAt.toISOString()}" ` +
      `SessionIndex="${stated.sessionIndex}"${sessionEnd}><saml:AuthnContext/></saml:AuthnStatement>` +
      `<saml:AttributeStatement>${renderAttributes(stated.attributes)}</saml:AttributeStatement></saml:Assertion>`
    );
  }

  private renderResponse(requestId: string, forgery: SamlForgery, assertion: string): string {
    const status = forgery.status ?? 'urn:oasis:names:tc:SAML:2.0:status:Success';
    return (
      `<samlp:Response xmlns:samlp="${PROTOCOL}" xmlns:saml="${ASSERTION}" ID="_r${requestId}" Version="2.0" ` +
      `IssueInstant="${this.clock().toISOString()}" Destination="${forgery.destination ?? this.callback}" ` +
      `InResponseTo="${forgery.responseTo ?? requestId}"><saml:Issuer>${this.provider.issuer}</saml:Issuer>` +
      `<samlp:Status><samlp:StatusCode Value="${status}"/></samlp:Status>${assertion}</samlp:Response>`
    );
  }
}

/** Creates an enabled provider with SAML in Cadastre. */
export const addSamlProvider = async (
  server: SignInSite & Pick<ApiTestClient, 'post'>,
  clock: () => Date,
  attributes: Readonly<Record<string, unknown>> = {},
): Promise<TestSamlProvider> => {
  const key = await createServiceKey(new Date());
  const issuer = 'https://saml.example.test/idp';
  const body = resource('identity-providers', {
    name: 'Acme SAML',
    protocol: 'saml',
    issuer,
    'sign-in-url': 'https://saml.example.test/sso?tenant=acme',
    certificates: [key.certificate],
    enabled: true,
    'creates-users': true,
    ...attributes,
  });
  const { id, attributes: created } = expectStatus(await server.post('/api/v2/admin/identity-providers', body), 201)
    .body.data;
  const provider = {
    id: id as string,
    issuer: created.issuer as string,
    key,
    audience: created['client-id'] as string,
  };
  return new TestSamlProvider(server, provider, clock);
};
