import { Alert, Button, Group, List, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describeError } from '../../api/api-error.js';
import type { AuditTrailRow } from '../../api/audit-trail.js';
import {
  entryProofQuery,
  getProofAddress,
  trailLogKeysQuery,
  type EntryProofState,
  type TrailLogStatus,
} from '../../api/trail-log.js';
import { formatCount } from '../../components/counts.js';
import { PendingButton } from '../../components/pending-button.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import type { VerificationResult } from './verified-entry.js';
import { listWitnessNames } from './witness-names.js';

type EntryProofProps = { readonly organization: string; readonly entry: AuditTrailRow };

type ProvedState = Extract<EntryProofState, { readonly kind: 'proved' }>;

/** Returns the number of entries in the checkpoint of a proof. Nothing is verified yet. */
const readCheckpointSize = (proof: string): number =>
  Number(proof.slice(proof.indexOf('\n\n') + 2).split('\n')[1] ?? Number.NaN);

const ProofSummary = ({ proof, log }: Omit<ProvedState, 'kind'>) => {
  const size = readCheckpointSize(proof);
  const names = listWitnessNames(log);
  return (
    <Text size="sm">
      Proved by checkpoint {size.toLocaleString()}
      {log?.size === size && (
        <>
          {' '}
          (signed <Time value={log['signed-at']} />)
        </>
      )}
      {names.length > 0 &&
        `. The log of the site, which has digests of checkpoints, is cosigned by ${names.join(', ')}`}
      .
    </Text>
  );
};

const Lines = ({ lines }: { readonly lines: readonly string[] }) => (
  <List size="sm" spacing={4}>
    {lines.map((line) => (
      <List.Item key={line}>{line}</List.Item>
    ))}
  </List>
);

const Result = ({ result }: { readonly result: VerificationResult }) => {
  if (result.kind === 'impossible') {
    return (
      <Alert color="red" variant="light" title="Not verified" role="alert">
        {result.reason}
      </Alert>
    );
  }
  if (result.kind === 'refused') {
    return (
      <Alert color="red" variant="light" title={`Not verified: ${result.problem}`} role="alert">
        <Lines
          lines={[`${result.step} fails: ${result.reason}`, `Passed before: ${result.passed.join(', ') || 'nothing'}`]}
        />
      </Alert>
    );
  }
  const isComplete = result.unchecked.length === 0;
  return (
    <Alert
      color={isComplete ? 'green' : 'yellow'}
      variant="light"
      title={isComplete ? 'Verified in this browser' : 'Partly verified in this browser'}
      role="status"
    >
      <Lines lines={[...result.checks, ...result.unchecked]} />
    </Alert>
  );
};

type VerifyProps = EntryProofProps & { readonly proof: string; readonly log: TrailLogStatus | null };

const VerifyForm = ({ organization, entry, proof, log, served }: VerifyProps & { readonly served: string }) => {
  const [entered, setEntered] = useState<string | null>(null);
  const keys = entered ?? served.trim();
  const isServed = keys.trim() === served.trim();
  const verification = useMutation({
    // The code of the verifier is loaded when somebody needs it.
    mutationFn: async () => (await import('./verified-entry.js')).verifyEntry({ entry, proof, keys, log }),
  });
  const change = (text: string | null): void => {
    setEntered(text);
    verification.reset();
  };
  return (
    <Stack gap="sm">
      <Textarea
        label="Verifier keys that you trust"
        description={
          isServed
            ? 'These keys come from this server, which could show you the keys of another log. Compare them with the key that the operator gave you by another way, or paste that key.'
            : 'You have entered these keys yourself. They do not come from this server.'
        }
        autosize
        minRows={2}
        maxRows={6}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', overflowWrap: 'anywhere' } }}
        value={keys}
        onChange={(event) => change(event.currentTarget.value)}
      />
      <Group gap="sm">
        <PendingButton isPending={verification.isPending} onClick={() => verification.mutate()}>
          Verify
        </PendingButton>
        <Button component="a" variant="default" href={getProofAddress(organization, entry.id)} download>
          Download proof
        </Button>
        {!isServed && (
          <Button variant="subtle" onClick={() => change(null)}>
            Use the keys of the server
          </Button>
        )}
      </Group>
      {verification.data && <Result result={verification.data} />}
      {verification.error && (
        <Alert color="red" variant="light" title="The verification has failed" role="alert">
          {describeError(verification.error)}
        </Alert>
      )}
    </Stack>
  );
};

const Proved = (props: VerifyProps) => {
  const { organization, proof, log } = props;
  const query = useQuery(trailLogKeysQuery(organization));
  return (
    <Stack gap="sm">
      <ProofSummary proof={proof} log={log} />
      <QueryState query={query} what="log" loading={<LoadingLines count={2} />}>
        {(served) => <VerifyForm {...props} served={served} />}
      </QueryState>
    </Stack>
  );
};

const Unproved = ({ state: { kind, log } }: { readonly state: EntryProofState }) => {
  const reason =
    kind === 'waiting'
      ? 'No checkpoint contains the entry yet. The next one follows within ten seconds.'
      : log === null
        ? 'The trail has no log yet. It begins when all processes of the server have this version.'
        : `The log proves ${formatCount(log['entry-count'], 'entry', 'entries')}, and not this one, which is older than the log.`;
  return (
    <Text size="sm" c="dimmed">
      {reason}
    </Text>
  );
};

/** Whether the log of the trail proves an entry, with what a person needs to verify it. */
export const EntryProof = ({ organization, entry }: EntryProofProps) => {
  const query = useQuery(entryProofQuery(organization, entry.id));
  return (
    <QueryState query={query} what="proof" loading={<LoadingLines count={2} />}>
      {(state) =>
        state.kind === 'proved' ? (
          <Proved organization={organization} entry={entry} proof={state.proof} log={state.log} />
        ) : (
          <Unproved state={state} />
        )
      }
    </QueryState>
  );
};
