import { Controller, Get, Header, Param, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { conflict } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { CurrentActor, type Actor } from '#api/access';
import { findVendorKey, formatChecksumsName, formatSignatureName } from '#registry/provider-release';
import { listMissing } from '../versions/registry-provider-versions.document.js';
import { ReleaseLinks } from '../release-files/release.links.js';
import { ProtocolErrorsFilter, renderWithEtag } from './protocol.responses.js';
import {
  findInstallablePackage,
  findInstallableProvider,
  type PackagePath,
  type InstallableProvider,
  type IncompleteVersion,
} from './provider-protocol.queries.js';

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
