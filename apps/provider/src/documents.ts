import { z } from 'zod';
import type { HttpResponse } from './transport.js';

// What of the server's documents is looked at. Nothing more is asked of it: it may be any server of this API.

const links = z.record(z.string(), z.unknown()).nullish();

const versionResource = z.object({
  attributes: z.object({
    'key-id': z.string().nullish(),
    protocols: z.array(z.string()).nullish(),
    'shasums-uploaded': z.boolean(),
    'shasums-sig-uploaded': z.boolean(),
    /** Cadastre says it; other servers leave it to be found out. */
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

/** Where files of this API are sent to and fetched from. */
export type FileLink =
  'shasums-upload' | 'shasums-download' | 'shasums-sig-upload' | 'shasums-sig-download' | 'provider-binary-upload';

export const findLink = (found: VersionResource | PlatformResource, name: FileLink): string | undefined => {
  const link = found.links?.[name];
  return typeof link === 'string' ? link : undefined;
};

/** Terraform's provider registry protocol: what the command-line clients read. */
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

/** Why the server says no, in its words; its number, where it has none. */
export const describeRefusal = (answer: HttpResponse): string => {
  const errors = refusal.safeParse(parseJson(answer)).data?.errors ?? [];
  const texts = errors.map((error) => (typeof error === 'string' ? error : (error.detail ?? error.title ?? '')));
  return texts.filter((text) => text !== '').join('; ') || `the server answers ${answer.status}`;
};
