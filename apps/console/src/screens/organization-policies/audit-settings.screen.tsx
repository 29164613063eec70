import { Alert, Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import {
  auditConfigurationQuery,
  trailRetentionQuery,
  useChangeTrailRetention,
  useSwitchRecording,
  useTestRecording,
} from '../../api/organization-policies.js';
import { Card, FactList } from '../../components/card.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PendingButton } from '../../components/pending-button.js';
import { FormProblems } from '../../components/problems.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';
import { showToast } from '../../toasts.js';
import { NO_ORGANIZATION_CHANGE } from '../organization-general/reasons.js';
import { DaysField } from '../../components/days-field.js';

const ShortenDialog = lazyComponent(() => import('./audit-dialogs.js'), 'ShortenDialog');
const StopDialog = lazyComponent(() => import('./audit-dialogs.js'), 'StopDialog');

type OrganizationProps = { readonly organization: string };

const toDays = (days: string): number | null => (days === '' ? null : Number(days));

/** Returns whether the server deletes entries that it has kept until now. */
const isShorter = (present: number | null, chosen: number | null): boolean =>
  chosen !== null && (present === null || chosen < present);

const RetentionCard = ({ organization, days }: OrganizationProps & { readonly days: number | null }) => {
  const [isConfirming, dialog] = useDisclosure(false);
  const update = useChangeTrailRetention(organization);
  const { error, isPending } = update;
  const form = useSettings(
    { 'retention-days': days?.toString() ?? '' },
    {
      error,
      isPending,
      mutate: (changes, callbacks) => update.mutate(toDays(changes['retention-days'] ?? ''), callbacks),
    },
  );
  const chosen = toDays(form.values['retention-days']);
  const confirmed = () => {
    dialog.close();
    form.save();
  };
  return (
    <>
      <SettingsCard
        title="Retention"
        form={{ ...form, save: isShorter(days, chosen) ? dialog.open : form.save }}
        canChange
        reason={NO_ORGANIZATION_CHANGE}
      >
        <DaysField
          label="Keep entries for"
          description="Empty: for ever. The event log and the topics in Kafka keep everything."
          placeholder="For ever"
          {...form.text('retention-days')}
        />
      </SettingsCard>
      {isConfirming && chosen !== null && <ShortenDialog days={chosen} onConfirm={confirmed} onClose={dialog.close} />}
    </>
  );
};

const TestResult = ({ organization, request }: OrganizationProps & { readonly request: string }) => (
  <Alert color="green" variant="light" role="status" title="The recording works">
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        The server has recorded an entry and read it back. Its request is <Code>{request}</Code>.
      </Text>
      <TextLink to="/$organization/audit-trail" params={{ organization }} underline="always">
        Open the audit trail
      </TextLink>
    </Stack>
  </Alert>
);

type RecordingProps = OrganizationProps & { readonly isEnabled: boolean; readonly lastSuccess: string | null };

const RecordingCard = ({ organization, isEnabled, lastSuccess }: RecordingProps) => {
  const [isStopping, dialog] = useDisclosure(false);
  const test = useTestRecording(organization);
  const recording = useSwitchRecording(organization);
  const start = () =>
    recording.mutate(true, {
      onSuccess: () => void showToast({ kind: 'success', message: 'The audit trail records again.' }),
    });
  return (
    <Card title="Recording">
      <FormProblems error={test.error ?? recording.error} />
      <FactList
        facts={[
          {
            label: 'Now',
            value: isEnabled ? <Badge color="green">Records</Badge> : <Badge color="red">Stopped</Badge>,
          },
          { label: 'Last test', value: lastSuccess ? <Time value={lastSuccess} /> : 'Never' },
        ]}
      />
      {test.data !== undefined && <TestResult organization={organization} request={test.data} />}
      <Group gap="sm">
        <PendingButton variant="default" isPending={test.isPending} onClick={() => test.mutate()}>
          Test the recording
        </PendingButton>
        {isEnabled ? (
          <Button variant="light" color="red" onClick={dialog.open}>
            Stop the recording
          </Button>
        ) : (
          <PendingButton isPending={recording.isPending} onClick={start}>
            Start the recording
          </PendingButton>
        )}
      </Group>
      {isStopping && <StopDialog organization={organization} onClose={dialog.close} />}
    </Card>
  );
};

/** How long the audit trail keeps entries, and whether it records. */
export const AuditSettingsScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/audit' });
  const retention = useQuery(trailRetentionQuery(organization));
  const configuration = useQuery(auditConfigurationQuery(organization));
  return (
    <Page title="Audit trail">
      <Stack>
        <QueryState query={retention} what="organization">
          {(days) => <RetentionCard organization={organization} days={days} />}
        </QueryState>
        <QueryState query={configuration} what="organization">
          {({ attributes: { 'audit-trails': trail, timestamps } }) => (
            <RecordingCard
              organization={organization}
              isEnabled={trail.enabled}
              lastSuccess={timestamps['audit-trails-last-success']}
            />
          )}
        </QueryState>
      </Stack>
    </Page>
  );
};
