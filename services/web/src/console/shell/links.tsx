import { Anchor, type AnchorProps, Button, type ButtonProps, NavLink, type NavLinkProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";

type Attributes = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "style" | "color"> & { ref?: Ref<HTMLAnchorElement> };

/** Mantine's links and buttons that lead to another screen of the console. */
export const TextLink = createLink((props: AnchorProps & Attributes) => <Anchor {...props} />);
export const ButtonLink = createLink((props: ButtonProps & Attributes) => <Button component="a" {...props} />);
export const NavigationLink = createLink((props: NavLinkProps & Attributes) => <NavLink component="a" {...props} />);
