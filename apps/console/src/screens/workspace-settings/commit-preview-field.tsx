import { Anchor, Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { commitPreviewQuery, type CommitOfPreview, type TriggerInput } from '../../api/commit-previews.js';
import { QueryState } from '../../components/states.js';

const SHORT_SHA = 10;

const Subject = ({ commit: { sha, tag, message, url } }: { readonly commit: CommitOfPreview }) => {
  const [line] = (message ?? '').split('\n');
  const text = tag ?? (line || sha.slice(0, SHORT_SHA));
  return url === null ? (
    <Text size="sm">{text}</Text>
  ) : (
    <Anchor size="sm" href={url} target="_blank" rel="noreferrer">
      {text}
    </Anchor>
  );
};

const toLabel = (startsRun: boolean | null): string => {
  if (startsRun === null) return 'Unknown';
  return startsRun ? 'Run' : 'No run';
};

const Commit = ({ commit }: { readonly commit: CommitOfPreview }) => (
  <li>
    <Group gap="xs" wrap="wrap">
      <Badge variant="default">{toLabel(commit['starts-run'])}</Badge>
      <Code>{commit.sha.slice(0, SHORT_SHA)}</Code>
      <Subject commit={commit} />
    </Group>
    {commit.reason !== null && (
      <Text size="sm" c="dimmed">
        {commit.reason}
      </Text>
    )}
  </li>
);

type PreviewProps = { readonly workspace: string; readonly triggers: TriggerInput };

const Preview = ({ workspace, triggers }: PreviewProps) => {
  const query = useQuery(commitPreviewQuery(workspace, triggers));
  return (
    <QueryState query={query} what="commits">
      {(commits) =>
        commits.length === 0 ? (
          <Text size="sm">The repository has no such commit yet.</Text>
        ) : (
          <Stack component="ul" gap="xs" aria-label="Newest commits" m={0} p={0} style={{ listStyle: 'none' }}>
            {commits.map((commit) => (
              <Commit key={`${commit.sha} ${commit.tag ?? ''}`} commit={commit} />
            ))}
          </Stack>
        )
      }
    </QueryState>
  );
};

type FieldProps = {
  readonly workspace: string;
  /** The triggers as they are entered, also before they are saved. */
  readonly entered: TriggerInput;
};

/** Shows which of the newest commits would start runs. The person requests it, because the Git host works for it. */
export const CommitPreviewField = ({ workspace, entered }: FieldProps) => {
  const [subject, setSubject] = useState<TriggerInput | null>(null);
  const isCurrent = subject !== null && JSON.stringify(subject) === JSON.stringify(entered);
  // If the same text is entered again later, only a click requests a preview.
  if (subject !== null && !isCurrent) setSubject(null);
  return (
    <Stack gap="xs" aria-live="polite">
      <div>
        <Button variant="default" disabled={isCurrent} onClick={() => setSubject(entered)}>
          Preview commits
        </Button>
      </div>
      <Text size="sm" c="dimmed">
        Which of the 20 newest commits would start a run with these settings, if each was pushed alone.
      </Text>
      {isCurrent && <Preview workspace={workspace} triggers={subject} />}
    </Stack>
  );
};
