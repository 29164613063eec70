import { createHash } from 'node:crypto';
import { Controller, Get, Header, Param, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { conflict } from '#kernel';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#postgres';
import { formatChecksumsName, formatSignatureName } from '#provider-release';
import { ProtocolErrorsFilter } from './provider-protocol.filter.js';
import {
  findInstallablePackage,
  findInstallableProvider,
  type PackagePath,
  type InstallableProvider,
  type IncompleteVersion,
} from './provider-protocol.queries.js';
import { listMissing } from '../versions/registry-provider-versions.document.js';
import { matchesEtag } from '../release-files/release.downloads.js';
import { ReleaseLinks } from '../release-files/release.links.js';

/** What the newest of the versions wants, for that is what somebody is publishing. */
const describeMissing = ({ version, ...wanting }: IncompleteVersion): string => {
  const missing = listMissing(wanting).map((name) =>
    name === 'SHA256SUMS.sig' ? `a signature of SHA256SUMS by GPG key ${wanting.keyId}` : name,
  );
  return `Version ${version} cannot be installed yet: it wants ${missing.join(', ')}`;
};

/** All that could prove the signature is here, and does not. */
const isSignatureInvalid = ({ hasKey, shasums, signature }: IncompleteVersion): boolean =>
  hasKey && shasums !== null && signature?.verified === false;

/**
 * Where there are versions and none can be installed: what is still to come is a warning, for who shows warnings of a
 * registry. A signature that is wrong is refused: clients would say of an empty list that there is no such provider, and
 * nothing of who has signed it.
 */
const buildWarnings = ({ served, unserved }: InstallableProvider): { readonly warnings?: readonly string[] } => {
  if (served.length > 0 || !unserved) return {};
  if (isSignatureInvalid(unserved)) throw conflict(describeMissing(unserved));
  return { warnings: [describeMissing(unserved)] };
};

/**
 * What the command line asks to install a provider: Terraform's provider registry protocol, plain JSON.
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
    const found = await findInstallablePackage(this.database, actor, path);
    const { versionId: version, platform, filename, shasum, protocols } = found;
    const release = { name: found.provider, version: found.version };
    const answer = {
      protocols,
      os: path.os,
      arch: path.arch,
      filename,
      download_url: this.links.download({ kind: 'binary', version, platform }, filename),
      shasum,
      shasums_url: this.links.download({ kind: 'shasums', version }, formatChecksumsName(release)),
      shasums_signature_url: this.links.download({ kind: 'shasums-sig', version }, formatSignatureName(release)),
      signing_keys: {
        gpg_public_keys: [
          { key_id: found.keyId, ascii_armor: found.asciiArmor, trust_signature: '', source: '', source_url: null },
        ],
      },
    };
    return renderWithEtag(answer, request, reply);
  }
}

/** The answer under a tag of its content; nothing of it for who has it already (RFC 9110 §13.1.2). */
const renderWithEtag = (answer: object, request: FastifyRequest, reply: FastifyReply): Buffer | undefined => {
  // Bytes: Fastify adds a charset to the media type of texts.
  const body = Buffer.from(JSON.stringify(answer));
  const tag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  void reply.header('etag', tag).header('cache-control', 'private, no-cache');
  if (!matchesEtag(request.headers['if-none-match'], tag)) return body;
  void reply.status(304);
  return undefined;
};
