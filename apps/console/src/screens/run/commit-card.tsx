import { Anchor } from '@mantine/core';
import type { RunDocument } from '../../api/runs.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { LongText } from '../../components/long-text.js';

type RunCommit = Extract<NonNullable<RunDocument['included']>[number], { readonly type: 'ingress-attributes' }>;

const SHORT_SHA = 10;

const listCommitFacts = ({ attributes: commit }: RunCommit): readonly LabeledFact[] => {
  const sha = commit['commit-sha'];
  return [
    { label: 'Repository', value: commit.identifier },
    ...(commit.branch === null ? [] : [{ label: 'Branch', value: commit.branch }]),
    ...(commit.tag === null ? [] : [{ label: 'Tag', value: commit.tag }]),
    {
      label: 'Commit',
      value: (
        <Anchor size="sm" href={commit['commit-url']} target="_blank" rel="noreferrer" title={sha}>
          {sha.slice(0, SHORT_SHA)}
        </Anchor>
      ),
    },
    { label: 'Message', value: <LongText text={commit['commit-message']} /> },
    ...(commit['sender-username'] === null ? [] : [{ label: 'Pushed by', value: commit['sender-username'] }]),
  ];
};

/** The commit that the configuration of the run is made of. Other configurations have none. */
export const CommitCard = ({ document: { included = [] } }: { readonly document: RunDocument }) => {
  const commit = included.find((each) => each.type === 'ingress-attributes');
  return (
    commit && (
      <Card title="Commit">
        <FactList facts={listCommitFacts(commit)} />
      </Card>
    )
  );
};
