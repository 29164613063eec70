import { z } from 'zod';
import type { HttpResponse } from './transport.js';

// The members of documents that the command uses. The server may be any server of this API.

const links = z.record(z.string(), z.unknown()).nullish();

const versionResource = z.object({
  attributes: z.object({
    'key-id': z.string().nullish(),
    protocols: z.array(z.string()).nullish(),
    'shasums-uploaded': z.boolean(),
    'shasums-sig-uploaded': z.boolean(),
    /** Only Cadastre sends `usable` and `missing`. For other servers the command derives them. */
    usable: z.boolean().optional(),
    missing: z.array(z.string()).optional(),
  }),
  links,
});

export const platformResource = z.object({
  attributes: z.object({
    os: z.string(),
    arch: z.string(),
    filename: z.string(),
    shasum: z.string(),
    'provider-binary-uploaded': z.boolean(),
  }),
  links,
});

export const keyResource = z.object({ attributes: z.object({ 'key-id': z.string(), 'ascii-armor': z.string() }) });

const pagination = z.object({ 'next-page': z.number().nullish() });

const singleDocument = <S extends z.ZodType>(resource: S) => z.object({ data: resource });
export const listDocument = <S extends z.ZodType>(resource: S) =>
  z.object({ data: z.array(resource), meta: z.object({ pagination: pagination.optional() }).optional() });

export const anyDocument = z.object({ data: z.unknown() });
export const versionDocument = singleDocument(versionResource);
export const platformDocument = singleDocument(platformResource);
export const keyDocument = singleDocument(keyResource);

export type VersionResource = z.infer<typeof versionResource>;
export type PlatformResource = z.infer<typeof platformResource>;
export type KeyAttributes = z.infer<typeof keyResource>['attributes'];

/** Names of links for uploads and downloads. */
export type FileLink =
  'shasums-upload' | 'shasums-download' | 'shasums-sig-upload' | 'shasums-sig-download' | 'provider-binary-upload';

export const findLink = (resource: VersionResource | PlatformResource, name: FileLink): string | undefined => {
  const link = resource.links?.[name];
  return typeof link === 'string' ? link : undefined;
};

/** Documents of Terraform's provider registry protocol, which the command-line clients read. */
export const listing = z.object({
  versions: z.array(
    z.object({ version: z.string(), platforms: z.array(z.object({ os: z.string(), arch: z.string() })).nullish() }),
  ),
});

export const packageDocument = z.object({
  filename: z.string(),
  shasum: z.string(),
  shasums_url: z.string(),
  shasums_signature_url: z.string(),
  signing_keys: z.object({ gpg_public_keys: z.array(z.object({ key_id: z.string(), ascii_armor: z.string() })) }),
});

export const services = z.object({ 'tfe.v2': z.string(), 'providers.v1': z.string() });

export const parseJson = ({ bytes }: HttpResponse): unknown => {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
};

const refusal = z.object({
  errors: z.array(z.union([z.string(), z.object({ detail: z.string().optional(), title: z.string().optional() })])),
});

/** Returns why the server refuses a request: the details of its errors, else the status. */
export const describeRefusal = (answer: HttpResponse): string => {
  const errors = refusal.safeParse(parseJson(answer)).data?.errors ?? [];
  const texts = errors.map((error) => (typeof error === 'string' ? error : (error.detail ?? error.title ?? '')));
  return texts.filter((text) => text !== '').join('; ') || `the server answers ${answer.status}`;
};
