import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

type TextLinkProps = AnchorProps & Omit<ComponentProps<'a'>, keyof AnchorProps>;

/** A link to another screen, as large as the text of a card. */
export const TextLink = createLink((props: TextLinkProps) => <Anchor size="sm" {...props} />);
