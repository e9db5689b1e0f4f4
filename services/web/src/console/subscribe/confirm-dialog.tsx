import type { AppDto, PricingPlanDto, QuoteDto } from "@ehr-marketplace/client/marketplace";
import { Button, Group, Modal, Skeleton, Stack, Text } from "@mantine/core";
import { formatCount, formatMoney, formatMonth } from "../../storefront/format.ts";
import { practiceName } from "../practice-name.ts";
import { ErrorNotice } from "../states/notices.tsx";
import { QueryView } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { isPriced, toQuoteInput, useQuote } from "./price-card.tsx";
import { FirstLimit } from "./quote-view.tsx";
import { describeTerms, type ReadTerms } from "./terms.ts";

const t = texts.subscribe;

export interface ConfirmDialogProps {
  isOpen: boolean;
  alias: string;
  app: AppDto;
  plan: PricingPlanDto;
  terms: ReadTerms;
  canHaveTrial: boolean;
  isSending: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
}

const priceOf = ({ currency }: QuoteDto, { total }: QuoteDto["firstMonth"]): string => formatMoney(total, currency);

/** Says once more who subscribes to what, for how much. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, alias, app, plan, terms, canHaveTrial, isSending, error, onConfirm, onClose } = props;
  const input = toQuoteInput(plan, terms, canHaveTrial);
  const quote = useQuote(app.slug, input);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t.confirmTitle(app.name)}
      closeButtonProps={{ "aria-label": texts.close }}
    >
      <Stack>
        <Text>{t.confirm(practiceName(alias), app.name, plan.name)}</Text>
        <Text>{t.confirmPrice(describeTerms(plan, terms.isValid ? terms.quantity : undefined))}</Text>
        {input !== undefined && (
          <QueryView query={quote} skeleton={<Skeleton height={24} />}>
            {(quoted) => (
              <>
                <Text>{t.confirmFirst(formatMonth(quoted.firstMonth.month), priceOf(quoted, quoted.firstMonth))}</Text>
                {canHaveTrial && plan.trialDays > 0 && (
                  <Text>
                    {t.confirmTrial(formatCount(plan.trialDays, "day", "days"), priceOf(quoted, quoted.fullMonth))}
                  </Text>
                )}
                <FirstLimit quote={quoted} />
              </>
            )}
          </QueryView>
        )}
        <Text c="dimmed">{t.confirmAfter}</Text>
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.back}
          </Button>
          <Button onClick={onConfirm} loading={isSending} disabled={!isPriced(input, quote)} data-autofocus>
            {t.button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
