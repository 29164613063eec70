import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { ApiError, readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

/* The policies of owners for old data, tokens and the audit trail. */

const policiesKey = (organization: string) => [...organizationKey(organization), 'policies'] as const;

const RETENTION = '/api/v2/organizations/{organization}/relationships/data-retention-policy';

/** The days after which old states are deleted. Null: no state is deleted. */
export const dataRetentionQuery = (organization: string) =>
  queryOptions({
    queryKey: [...policiesKey(organization), 'data-retention'],
    queryFn: async ({ signal }): Promise<number | null> => {
      try {
        const policy = await readData(api.GET(RETENTION, { params: { path: { organization } }, signal }));
        return policy.type === 'data-retention-policy-delete-olders'
          ? policy.attributes['delete-older-than-n-days']
          : null;
      } catch (error) {
        if (error instanceof ApiError && error.isNotFound) return null;
        throw error;
      }
    },
  });

export const useChangeDataRetention = (organization: string) =>
  useChange({
    mutationFn: (days: number | null) => {
      const params = { path: { organization } };
      const data =
        days === null
          ? { type: 'data-retention-policy-dont-deletes' as const }
          : {
              type: 'data-retention-policy-delete-olders' as const,
              attributes: { 'delete-older-than-n-days': days },
            };
      return requireSuccess(api.POST(RETENTION, { params, body: { data } }));
    },
    rereads: organizationKey(organization),
  });

const LIFETIMES = '/api/v2/organizations/{organization}/token-ttl-policies';

type LimitedTokenType = ApiResource<'OrganizationTokenTtlPolicy'>['attributes']['token-type'];
/** Days by the kind of token. */
export type TokenLifetimes = Readonly<Record<LimitedTokenType, number>>;

const DAY_MS = 24 * 60 * 60_000;

export const tokenLifetimesQuery = (organization: string) =>
  queryOptions({
    queryKey: [...policiesKey(organization), 'token-lifetimes'],
    queryFn: async ({ signal }): Promise<TokenLifetimes> => {
      const policies = await readData(api.GET(LIFETIMES, { params: { path: { organization } }, signal }));
      return Object.fromEntries(
        policies.map(({ attributes }) => [attributes['token-type'], attributes['max-ttl-ms'] / DAY_MS]),
      ) as TokenLifetimes;
    },
  });

export type LifetimeChanges = {
  /** Whether the limits apply. */
  readonly isEnabled?: boolean;
  readonly days: Partial<TokenLifetimes>;
};

/** Changes the limits first, so that the organization never applies those that the person has replaced. */
export const useChangeTokenLifetimes = (organization: string) =>
  useChange({
    mutationFn: async ({ isEnabled, days }: LifetimeChanges) => {
      const params = { path: { organization } };
      const policies = Object.entries(days).map(([type, limit]) => ({
        'token-type': type as LimitedTokenType,
        'max-ttl-ms': Math.round(limit * DAY_MS),
      }));
      if (policies.length > 0) {
        const attributes = { 'token-ttl-policies': policies };
        const body = { data: { type: 'organization-token-ttl-policies' as const, attributes } };
        await requireSuccess(api.PATCH(LIFETIMES, { params, body }));
      }
      if (isEnabled === undefined) return;
      const body = { data: { type: 'organizations' as const, attributes: { 'max-ttl-enabled': isEnabled } } };
      await requireSuccess(api.PATCH('/api/v2/organizations/{organization}', { params, body }));
    },
    rereads: organizationKey(organization),
  });

const TRAIL_SETTINGS = '/api/v2/organizations/{organization}/audit-trail-settings';

/** The days for which entries of the audit trail are kept. Null: for ever. */
export const trailRetentionQuery = (organization: string) =>
  queryOptions({
    queryKey: [...policiesKey(organization), 'trail-retention'],
    queryFn: async ({ signal }) => {
      const settings = await readData(api.GET(TRAIL_SETTINGS, { params: { path: { organization } }, signal }));
      return settings.attributes['retention-days'];
    },
  });

export const useChangeTrailRetention = (organization: string) =>
  useChange({
    mutationFn: (days: number | null) => {
      const params = { path: { organization } };
      const body = { data: { type: 'audit-trail-settings' as const, attributes: { 'retention-days': days } } };
      return requireSuccess(api.PATCH(TRAIL_SETTINGS, { params, body }));
    },
    rereads: policiesKey(organization),
  });

const AUDIT_CONFIGURATION = '/api/v2/organizations/{organization}/audit-configuration';

export const auditConfigurationQuery = (organization: string) =>
  queryOptions({
    queryKey: [...policiesKey(organization), 'audit-configuration'],
    queryFn: ({ signal }) => readData(api.GET(AUDIT_CONFIGURATION, { params: { path: { organization } }, signal })),
  });

/** Starts or stops the recording of the audit trail. */
export const useSwitchRecording = (organization: string) =>
  useChange({
    mutationFn: (enabled: boolean) => {
      const attributes = { 'audit-trails': { enabled } };
      const body = { data: { type: 'audit-configurations' as const, attributes } };
      return requireSuccess(api.PATCH(AUDIT_CONFIGURATION, { params: { path: { organization } }, body }));
    },
    rereads: policiesKey(organization),
  });

/** Records an entry and reads it back. Returns the id of its request. */
export const useTestRecording = (organization: string) =>
  useChange({
    mutationFn: async () => {
      const path = `${AUDIT_CONFIGURATION}/test` as const;
      return (await readDocument(api.POST(path, { params: { path: { organization } } })))['request-id'];
    },
    rereads: policiesKey(organization),
  });

export type FactSource = ApiResource<'AuditFactSource'>;

const factSourcesKey = (organization: string) => [...organizationKey(organization), 'fact-sources'] as const;
const FACT_SOURCES = '/api/v2/organizations/{organization}/audit-fact-sources';

/** The services that may report facts by Kafka, page by page. */
export const factSourcesQuery = (organization: string) =>
  pagedQuery(factSourcesKey(organization), (page, signal) =>
    readDocument(api.GET(FACT_SOURCES, { params: { path: { organization }, query: page }, signal })),
  );

type NewFactSource = { readonly source: string; readonly description: string };

export const useAddFactSource = (organization: string) =>
  useChange({
    mutationFn: (attributes: NewFactSource) => {
      const body = { data: { type: 'audit-fact-sources' as const, attributes } };
      return requireSuccess(api.POST(FACT_SOURCES, { params: { path: { organization } }, body }));
    },
    rereads: factSourcesKey(organization),
  });

export const useRemoveFactSource = (organization: string) =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/audit-fact-sources/{id}', { params: { path: { id } } })),
    rereads: factSourcesKey(organization),
  });
