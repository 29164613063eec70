import { NumberInput, Stack, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { generalSettingsQuery, useChangeGeneralSettings, type SiteSettings } from '../../api/general-settings.js';
import { Card, FactList } from '../../components/card.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { SitePage } from '../site/site-page.js';

/** Other people do not see the screen. */
const REASON = 'Administrators of the site can change these settings.';

type CardProps = { readonly settings: SiteSettings };

const Requests = ({ settings }: CardProps) => {
  const form = useSettings(
    {
      'api-rate-limiting-enabled': settings['api-rate-limiting-enabled'],
      'api-rate-limit': settings['api-rate-limit'],
    },
    useChangeGeneralSettings(),
  );
  const limit = form.choice('api-rate-limit');
  return (
    <SettingsCard title="Requests" form={form} canChange reason={REASON}>
      <Switch label="Limit the requests of each token" {...form.checkbox('api-rate-limiting-enabled')} />
      <NumberInput
        label="Requests per second"
        description="Each token may send twice as many at once. Every gateway counts for itself."
        allowDecimal={false}
        {...limit}
        onChange={(value) => limit.onChange(Number(value))}
      />
    </SettingsCard>
  );
};

const Runs = ({ settings }: CardProps) => {
  const form = useSettings(
    {
      'plan-timeout': settings['plan-timeout'],
      'apply-timeout': settings['apply-timeout'],
      'fair-run-queuing-enabled': settings['fair-run-queuing-enabled'],
    },
    useChangeGeneralSettings(),
  );
  return (
    <SettingsCard title="Runs" form={form} canChange reason={REASON}>
      <TextInput
        label="Longest plan"
        description="From 1m to 24h, such as 90m or 1h30m. An executor interrupts a plan that takes longer."
        required
        {...form.text('plan-timeout')}
      />
      <TextInput
        label="Longest apply"
        description="From 1m to 24h. An interrupted apply uploads the state that it has."
        required
        {...form.text('apply-timeout')}
      />
      <Switch
        label="Serve organizations in turn"
        description="Otherwise executors of the site take the oldest run first, so that an organization with many runs can delay others."
        {...form.checkbox('fair-run-queuing-enabled')}
      />
    </SettingsCard>
  );
};

const formatYes = (value: boolean): string => (value ? 'Yes' : 'No');

/** What the settings of the server decide. */
const Configured = ({ settings }: CardProps) => (
  <Card title="Decided by the configuration of the server">
    <FactList
      facts={[
        {
          label: 'Only administrators create organizations',
          value: formatYes(settings['limit-user-organization-creation']),
        },
        {
          label: 'Organizations that a user can own',
          value: settings['default-organizations-per-user-ceiling']?.toLocaleString() ?? 'Any number',
        },
        { label: 'People need a second factor', value: formatYes(settings['require-two-factor-for-admins']) },
        {
          label: 'New workspaces share their state with their organization',
          value: formatYes(settings['default-remote-state-access']),
        },
      ]}
    />
  </Card>
);

/** Settings of the whole site, for its administrators. */
export const SiteSettingsScreen = () => {
  const query = useQuery(generalSettingsQuery);
  return (
    <SitePage title="Settings" description="Settings of the whole site." error={query.error}>
      <QueryState query={query} what="settings" loading={<LoadingLines count={6} height={28} />}>
        {(settings) => (
          <Stack>
            <Requests settings={settings} />
            <Runs settings={settings} />
            <Configured settings={settings} />
          </Stack>
        )}
      </QueryState>
    </SitePage>
  );
};
