import { Anchor } from '@mantine/core';
import type { RunDocument } from '../../api/runs.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { LongText } from '../../components/long-text.js';

type RunCommit = Extract<NonNullable<RunDocument['included']>[number], { readonly type: 'ingress-attributes' }>;

const SHORT_SHA = 10;

/** Only commits of pull requests have a sender: the account that has opened the pull request. */
const listPullRequestFacts = ({ attributes: commit }: RunCommit): readonly LabeledFact[] => {
  const number = commit['pull-request-number'];
  if (number === null) return [];
  const text = `#${number} ${commit['pull-request-title'] ?? ''}`;
  const url = commit['pull-request-url'];
  return [
    {
      label: 'Pull request',
      value:
        url === null ? (
          text
        ) : (
          <Anchor size="sm" href={url} target="_blank" rel="noreferrer">
            {text}
          </Anchor>
        ),
    },
    ...(commit['sender-username'] === null ? [] : [{ label: 'Opened by', value: commit['sender-username'] }]),
  ];
};

const listCommitFacts = (document: RunCommit): readonly LabeledFact[] => {
  const { attributes: commit } = document;
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
    ...listPullRequestFacts(document),
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
