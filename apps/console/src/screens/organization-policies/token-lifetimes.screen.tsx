import { Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { organizationQuery } from '../../api/organizations.js';
import {
  tokenLifetimesQuery,
  useChangeTokenLifetimes,
  type LifetimeChanges,
  type TokenLifetimes,
} from '../../api/organization-policies.js';
import { Page } from '../../components/page.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { NO_ORGANIZATION_CHANGE } from '../organization-general/reasons.js';
import { DaysField } from '../../components/days-field.js';

const KINDS = {
  organization: 'Token of the organization',
  team: 'Tokens of teams',
  user: 'Tokens of people',
  audit_trails: 'Token of the audit trail',
} as const;
type TokenKind = keyof typeof KINDS;

type LifetimeValues = { readonly isEnabled: boolean } & Readonly<Record<TokenKind, string>>;

const listKinds = () => Object.entries(KINDS) as readonly (readonly [TokenKind, string])[];

/** Clients can set limits in milliseconds. The default of two average years is no whole number of days. */
const formatDays = (days: number): string => Number(days.toFixed(8)).toString();

const toValues = (isEnabled: boolean, days: TokenLifetimes): LifetimeValues => ({
  isEnabled,
  organization: formatDays(days.organization),
  team: formatDays(days.team),
  user: formatDays(days.user),
  audit_trails: formatDays(days.audit_trails),
});

const toChanges = ({ isEnabled, ...days }: Partial<LifetimeValues>): LifetimeChanges => ({
  ...(isEnabled === undefined ? {} : { isEnabled }),
  days: Object.fromEntries(Object.entries(days).map(([kind, limit]) => [kind, Number(limit)])),
});

type CardProps = { readonly organization: string; readonly isEnabled: boolean; readonly days: TokenLifetimes };

const LifetimesCard = ({ organization, isEnabled, days }: CardProps) => {
  const update = useChangeTokenLifetimes(organization);
  const { error, isPending } = update;
  const form = useSettings(toValues(isEnabled, days), {
    error,
    isPending,
    mutate: (changes, callbacks) => update.mutate(toChanges(changes), callbacks),
  });
  return (
    <SettingsCard title="Longest lifetimes" form={form} canChange reason={NO_ORGANIZATION_CHANGE}>
      <Switch label="Limit how long tokens live" {...form.checkbox('isEnabled')} />
      {listKinds().map(([kind, label]) => (
        <DaysField key={kind} label={label} min={0} step="any" required {...form.text(kind)} />
      ))}
      <Text size="sm" c="dimmed">
        A new token ends after the limit at the latest. Tokens that exist keep their end. Tokens of people are
        different: the organization refuses those that are older than the limit, from the next request.
      </Text>
    </SettingsCard>
  );
};

/** How long tokens with access to the organization live at most. */
export const TokenLifetimesScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/token-lifetimes' });
  const query = useQuery(tokenLifetimesQuery(organization));
  const { data } = useQuery(organizationQuery(organization));
  return (
    <Page title="Token lifetimes">
      <QueryState query={query} what="organization">
        {(days) =>
          data ? (
            <LifetimesCard organization={organization} isEnabled={data.attributes['max-ttl-enabled']} days={days} />
          ) : (
            <LoadingLines />
          )
        }
      </QueryState>
    </Page>
  );
};
