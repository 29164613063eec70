import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useChangeRetention, workspaceRetentionQuery, type RetentionRule } from '../../api/data-retention.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { DaysField } from '../../components/days-field.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { QueryState } from '../../components/states.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

const TITLE = 'Data retention';
const DAYS = 'delete-older-than-n-days';

type RetentionFormProps = WorkspaceCardProps & {
  readonly policy: { readonly days: number | null; readonly isOwn: boolean } | null;
};

const describeDays = (days: number | null): string =>
  days === null ? 'delete nothing' : `delete data older than ${formatCount(days, 'day')}`;

const readRule = ({ policy }: RetentionFormProps): RetentionRule => {
  if (!policy?.isOwn) return 'inherited';
  return policy.days === null ? 'keep' : 'delete';
};

const RetentionForm = (props: RetentionFormProps) => {
  const { organization, workspace, policy } = props;
  const { mutate, ...state } = useChangeRetention(organization, workspace.data);
  const present = { rule: readRule(props), [DAYS]: policy?.isOwn && policy.days !== null ? String(policy.days) : '' };
  const form = useSettings(present, {
    ...state,
    mutate: (changes, callbacks) => {
      const { rule, [DAYS]: days } = { ...present, ...changes };
      mutate({ rule, days: days === '' ? null : Number(days) }, callbacks);
    },
  });
  const inherited =
    policy && !policy.isOwn ? `As the organization: ${describeDays(policy.days)}` : 'As the organization';
  return (
    <SettingsCard
      title={TITLE}
      form={form}
      canChange={workspace.data.attributes.permissions['can-update']}
      reason={CHANGERS}
    >
      <Select
        label="Old states and configurations"
        description="The current state is always kept. A deleted state can be restored at first, and later no more."
        allowDeselect={false}
        data={[
          { value: 'inherited', label: policy ? inherited : 'As the organization, which deletes nothing' },
          { value: 'keep', label: 'Delete nothing' },
          { value: 'delete', label: 'Delete data of a certain age' },
        ]}
        value={form.values.rule}
        onChange={(value) => form.enter({ rule: value as RetentionRule, [DAYS]: '' })}
      />
      {form.values.rule === 'delete' && (
        <DaysField label="Delete data that is older than" required {...form.text(DAYS)} />
      )}
    </SettingsCard>
  );
};

/** How long the files of old states and configurations are kept. */
export const RetentionCard = (props: WorkspaceCardProps) => {
  const query = useQuery(workspaceRetentionQuery(props.organization, props.workspace.data));
  if (query.data === undefined) {
    return (
      <Card title={TITLE}>
        <QueryState query={query} what="workspace">
          {() => null}
        </QueryState>
      </Card>
    );
  }
  return <RetentionForm {...props} policy={query.data} />;
};
