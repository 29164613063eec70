import { Radio, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataRetentionQuery, useChangeDataRetention } from '../../api/organization-policies.js';
import { Page } from '../../components/page.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { QueryState } from '../../components/states.js';
import { NO_ORGANIZATION_CHANGE } from '../organization-general/reasons.js';
import { DaysField } from '../../components/days-field.js';

const FIRST_DAYS = '90';

type RetentionValues = { readonly kind: 'keep' | 'delete'; readonly 'delete-older-than-n-days': string };

const toValues = (days: number | null): RetentionValues => ({
  kind: days === null ? 'keep' : 'delete',
  'delete-older-than-n-days': days?.toString() ?? FIRST_DAYS,
});

const toDays = ({ kind, 'delete-older-than-n-days': days }: RetentionValues): number | null =>
  kind === 'keep' ? null : Number(days);

type FormProps = { readonly organization: string; readonly days: number | null };

const RetentionCard = ({ organization, days }: FormProps) => {
  const update = useChangeDataRetention(organization);
  const present = toValues(days);
  const { error, isPending } = update;
  const form = useSettings(present, {
    error,
    isPending,
    mutate: (changes, callbacks) => update.mutate(toDays({ ...present, ...changes }), callbacks),
  });
  const kind = form.choice('kind');
  return (
    <SettingsCard title="States of the past" form={form} canChange reason={NO_ORGANIZATION_CHANGE}>
      <Radio.Group
        label="Old states"
        value={kind.value}
        onChange={(chosen) => kind.onChange(chosen as RetentionValues['kind'])}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="keep" label="Keep all states" />
          <Radio value="delete" label="Delete states after some days" />
        </Stack>
      </Radio.Group>
      {kind.value === 'delete' && (
        <DaysField label="Delete states that are older than" required {...form.text('delete-older-than-n-days')} />
      )}
      <Text size="sm" c="dimmed">
        It applies to every workspace without a policy of its own. The current state of a workspace is never deleted.
        Deleted states can be restored at first; later their files are deleted for ever.
      </Text>
    </SettingsCard>
  );
};

/** How long the organization keeps the states of the past. */
export const DataRetentionScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/data-retention' });
  const query = useQuery(dataRetentionQuery(organization));
  return (
    <Page title="Data retention">
      <QueryState query={query} what="organization">
        {(days) => <RetentionCard organization={organization} days={days} />}
      </QueryState>
    </Page>
  );
};
