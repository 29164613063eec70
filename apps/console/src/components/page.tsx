import { Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { useBreadcrumbs } from './breadcrumbs.js';
import { LongText } from './long-text.js';
import { TextLink } from './text-link.js';
import classes from './page.module.css';

type PageProps = {
  /** The heading, and the title of the browser's tab. */
  readonly title: string;
  /** The screen below the heading, if several screens share it. The title of the browser's tab begins with it. */
  readonly screen?: string | undefined;
  readonly description?: ReactNode;
  /** Beside the heading: states, such as a lock. */
  readonly badges?: ReactNode;
  /** Buttons for the whole page. */
  readonly actions?: ReactNode;
  /** Whether the content has the height of the window, and scrolls in itself. */
  readonly isFilled?: boolean;
  readonly children: ReactNode;
};

/** The first screen keeps the focus at the start of the document, as every page of a browser does. */
let isFirstScreen = true;

/** Moves the focus to the heading when another screen opens, so that screen readers read it. */
const useHeadingFocus = () => {
  const heading = useRef<HTMLHeadingElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    // A dialog stays when only the name in the address changes.
    const isInDialog = document.activeElement?.closest('[role="dialog"]') ?? null;
    if (!isFirstScreen && isInDialog === null) heading.current?.focus();
    isFirstScreen = false;
  }, [path]);
  return heading;
};

/** The content of a screen, below breadcrumbs and a heading. */
export const Page = ({ title, screen, description, badges, actions, isFilled, children }: PageProps) => {
  const heading = useHeadingFocus();
  const breadcrumbs = useBreadcrumbs();
  useEffect(() => {
    const screens = [...breadcrumbs.map(({ label }) => label), title, screen].filter((each) => each !== undefined);
    document.title = [...screens.toReversed(), 'Cadastre'].join(' · ');
  });
  return (
    <div className={isFilled ? classes['filled'] : classes['page']}>
      <Stack gap={0} className={classes['header']}>
        {breadcrumbs.length > 0 && (
          <nav aria-label="Breadcrumbs">
            <Breadcrumbs separator="/" separatorMargin={6} className={classes['breadcrumbs']}>
              {breadcrumbs.map(({ label, to }) => (
                <TextLink key={to} to={to} size="xs">
                  {label}
                </TextLink>
              ))}
            </Breadcrumbs>
          </nav>
        )}
        <Group justify="space-between" align="center" gap="sm">
          <Group gap="sm" className={classes['heading']}>
            <Title order={1} size="h3" ref={heading} tabIndex={-1}>
              {title}
            </Title>
            {badges}
          </Group>
          {actions && <Group gap="sm">{actions}</Group>}
        </Group>
        {description && (
          <Text c="dimmed" size="sm" maw={760} component="div">
            {typeof description === 'string' ? <LongText text={description} /> : description}
          </Text>
        )}
      </Stack>
      {children}
    </div>
  );
};
