import { Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { taskOutcomesQuery, taskOutcomeTextQuery, type ReportedOutcome } from '../../api/task-stages.js';
import { LongText } from '../../components/long-text.js';
import { QueryState } from '../../components/states.js';
import classes from './run.module.css';

type OutcomeLevel = ReportedOutcome['attributes']['tags'][string][number]['level'];

const COLORS: Readonly<Record<OutcomeLevel, string>> = { none: 'gray', info: 'blue', warning: 'yellow', error: 'red' };

type RunProps = { readonly organization: string; readonly run: string };

/** The Markdown of a service as plain text, because it can contain HTML. */
const OutcomeText = ({ organization, run, outcome }: RunProps & { readonly outcome: string }) => (
  <QueryState query={useQuery(taskOutcomeTextQuery(organization, run, outcome))} what="outcome">
    {(text) => (
      <blockquote className={classes['comment']}>
        <LongText text={text} />
      </blockquote>
    )}
  </QueryState>
);

const Outcome = ({ outcome: { id, attributes }, ...run }: RunProps & { readonly outcome: ReportedOutcome }) => {
  const [isOpen, setOpen] = useState(false);
  const name = attributes['outcome-id'];
  return (
    <li className={classes['task']}>
      <Group gap="xs">
        <Text size="sm" component="strong" fw={600}>
          {name}
        </Text>
        {Object.entries(attributes.tags).flatMap(([tag, labels]) =>
          labels.map(({ label, level }, index) => (
            <Badge key={`${tag} ${index}`} color={COLORS[level]} fw={600} px={6} lts={0}>
              {tag}: {label}
            </Badge>
          )),
        )}
        {attributes.url && (
          <Anchor
            size="sm"
            className={classes['report']}
            href={attributes.url}
            target="_blank"
            rel="noopener noreferrer"
          >
            More about {name}
          </Anchor>
        )}
      </Group>
      {attributes.description !== '' && (
        <Text size="sm" component="div">
          <LongText text={attributes.description} />
        </Text>
      )}
      {attributes['has-body'] && (
        <details onToggle={({ currentTarget: { open } }) => setOpen(open)}>
          <summary className={classes['log']}>Text of {name}</summary>
          {isOpen && <OutcomeText {...run} outcome={id} />}
        </details>
      )}
    </li>
  );
};

/** The details of what a service has reported. */
export const TaskOutcomes = ({ result, ...run }: RunProps & { readonly result: string }) => (
  <QueryState query={useQuery(taskOutcomesQuery(run.organization, run.run, result))} what="result">
    {(outcomes) => (
      <Stack component="ul" gap="sm" className={classes['tasks']}>
        {outcomes.map((outcome) => (
          <Outcome key={outcome.id} {...run} outcome={outcome} />
        ))}
      </Stack>
    )}
  </QueryState>
);
