import { createHash } from 'node:crypto';
import {
  Catch,
  type ArgumentsHost,
  type ExceptionFilter,
  Controller,
  Get,
  Header,
  Param,
  Req,
  Res,
  UseFilters,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal, conflict } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { setRefusalHeaders, getHttpStatus, matchesEtag } from '#api/json-api';
import { CurrentActor, type Actor } from '#api/access';
import { findVendorKey, formatChecksumsName, formatSignatureName } from '#registry/provider-release';
import { listMissing } from '../versions/registry-provider-versions.document.js';
import { ReleaseLinks } from '../release-files/release.links.js';
import {
  findInstallablePackage,
  findInstallableProvider,
  type PackagePath,
  type InstallableProvider,
  type IncompleteVersion,
} from './provider-protocol.queries.js';

const MAX_PHRASE_LENGTH = 400;

/** Replaces characters that are not allowed in a status line. The text may contain input of callers. */
const formatPhrase = (text: string): string => text.replaceAll(/[^ -~]/g, '?').slice(0, MAX_PHRASE_LENGTH);

/**
 * Renders refusals in the format of the protocol: `{"errors":["text"]}`. Other errors go to the general
 * filter.
 *
 * Terraform and OpenTofu show only the reason phrase beside the status, and nothing of the body (registry_client.go).
 */
@Catch(Refusal)
class ProtocolErrorsFilter implements ExceptionFilter<Refusal> {
  catch(refused: Refusal, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    setRefusalHeaders(reply, refused);
    const errors = refused.problems.map(({ detail }) => detail);
    reply.raw.statusMessage = formatPhrase(refused.message);
    void reply
      .status(getHttpStatus(refused))
      .type('application/json')
      .send(Buffer.from(JSON.stringify({ errors })));
  }
}

/** Describes what the version lacks. Callers pass the newest version, because that is the one being published. */
const describeMissing = ({ version, ...completeness }: IncompleteVersion): string => {
  const missing = listMissing(completeness).map((name) =>
    name === 'SHA256SUMS.sig' ? `a signature of SHA256SUMS by GPG key ${completeness.keyId}` : name,
  );
  return `Version ${version} cannot be installed yet: it still needs ${missing.join(', ')}`;
};

/** Returns whether the signature does not match although the key, SHA256SUMS and the signature are all uploaded. */
const isSignatureInvalid = ({ hasKey, shasums, signature }: IncompleteVersion): boolean =>
  hasKey && shasums !== null && signature?.verified === false;

/**
 * Warns if the provider has versions but none can be installed; clients that show registry warnings print it. Throws a
 * conflict if the signature is wrong: for an empty list, clients would only report that the provider does not exist.
 */
const buildWarnings = ({ served, unserved }: InstallableProvider): { readonly warnings?: readonly string[] } => {
  if (served.length > 0 || !unserved) return {};
  if (isSignatureInvalid(unserved)) throw conflict(describeMissing(unserved));
  return { warnings: [describeMissing(unserved)] };
};

/**
 * Serves Terraform's provider registry protocol as plain JSON; clients use it to install providers.
 *
 * @see https://developer.hashicorp.com/terraform/internals/provider-registry-protocol
 */
@Controller('api/registry/v1/providers')
@UseFilters(ProtocolErrorsFilter)
export class ProviderProtocolController {
  constructor(
    private readonly database: Database,
    private readonly links: ReleaseLinks,
  ) {}

  @Get(':namespace/:name/versions')
  @Header('content-type', 'application/json')
  async versions(
    @Param() { namespace, name }: Pick<PackagePath, 'namespace' | 'name'>,
    @CurrentActor() actor: Actor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    const provider = await findInstallableProvider(this.database, actor, namespace, name);
    return renderWithEtag({ versions: provider.served, ...buildWarnings(provider) }, request, reply);
  }

  @Get(':namespace/:name/:version/download/:os/:arch')
  @Header('content-type', 'application/json')
  async download(
    @Param() path: PackagePath,
    @CurrentActor() actor: Actor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    const installable = await findInstallablePackage(this.database, actor, path);
    const { versionId: version, platform, filename, shasum, protocols } = installable;
    const release = { name: installable.provider, version: installable.version };
    const answer = {
      protocols,
      os: path.os,
      arch: path.arch,
      filename,
      download_url: this.links.download({ kind: 'binary', version, platform }, filename, actor),
      shasum,
      shasums_url: this.links.download({ kind: 'shasums', version }, formatChecksumsName(release), actor),
      shasums_signature_url: this.links.download({ kind: 'shasums-sig', version }, formatSignatureName(release), actor),
      signing_keys: {
        gpg_public_keys: [
          {
            key_id: installable.keyId,
            ascii_armor: installable.asciiArmor ?? findVendorKey(installable.keyId),
            trust_signature: '',
            source: '',
            source_url: null,
          },
        ],
      },
    };
    return renderWithEtag(answer, request, reply);
  }
}

/** Sends the content with an ETag, or 304 without content if the client already has it (RFC 9110 §13.1.2). */
const renderWithEtag = (answer: object, request: FastifyRequest, reply: FastifyReply): Buffer | undefined => {
  // A Buffer, because Fastify adds a charset to the media type of strings.
  const body = Buffer.from(JSON.stringify(answer));
  const tag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  void reply.header('etag', tag).header('cache-control', 'private, no-cache');
  if (!matchesEtag(request.headers['if-none-match'], tag)) return body;
  void reply.status(304);
  return undefined;
};
