import { Group, Stack, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import classes from './card.module.css';

type CardProps = { readonly title: string; readonly actions?: ReactNode; readonly children: ReactNode };

/** A part of a screen with a heading. */
export const Card = ({ title, actions, children }: CardProps) => {
  const id = useId();
  return (
    <section className={classes['card']} aria-labelledby={id}>
      <Group justify="space-between" mb="sm" gap="sm">
        <Title order={2} size="h5" id={id} className={classes['title']}>
          {title}
        </Title>
        {actions}
      </Group>
      <Stack gap="sm">{children}</Stack>
    </section>
  );
};

export type LabeledFact = { readonly label: string; readonly value: ReactNode };

/** Names and values. */
export const FactList = ({ facts }: { readonly facts: readonly LabeledFact[] }) => (
  <dl className={classes['facts']}>
    {facts.map(({ label, value }) => (
      <div key={label} className={classes['fact']}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
