;;; hive-outreach.el --- Pings, cards and reports from agents  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-outreach' lists what agents send on their own: pings, cards and
;; reports, newest first.  A ping or a card is also announced in one line of
;; the echo area, and many at once share a line; reports are for other agents
;; and only listed.  An item that a rule suppressed is listed with that rule.
;; Items that arrived while Emacs was not running are announced when it starts.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'hive-links)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

;;;; Faces

(defface hive-card-blue '((t :inherit (bold font-lock-function-name-face)))
  "The title of a card for information." :group 'hive-faces)
(defface hive-card-green '((t :inherit (bold hive-success)))
  "The title of a card about something done." :group 'hive-faces)
(defface hive-card-yellow '((t :inherit (bold hive-warning)))
  "The title of a card that needs a look." :group 'hive-faces)
(defface hive-card-red '((t :inherit (bold hive-critical)))
  "The title of a card about trouble." :group 'hive-faces)
(defface hive-card-title '((t :inherit bold))
  "The title of a card without a colour." :group 'hive-faces)
(defface hive-card-field '((t :inherit font-lock-keyword-face))
  "The name of a value on a card." :group 'hive-faces)
(defface hive-card-footer '((t :inherit (italic hive-shadow)))
  "Below a card: where its sender runs, unless that is the main session." :group 'hive-faces)

;;;; A card

;; A card has a title in its colour, a text, names with values, a button per
;; action, and where its sender runs.  A button answers the question that
;; belongs to the card, like any other answer.

(defun hive-outreach--face (card)
  "Return the face of the title of CARD."
  (pcase (plist-get card :color)
    ("blue" 'hive-card-blue) ("green" 'hive-card-green)
    ("yellow" 'hive-card-yellow) ("red" 'hive-card-red) (_ 'hive-card-title)))

(defun hive-outreach--insert-fields (fields)
  "Insert FIELDS, with inline ones on one line."
  (let ((beside nil))
    (dolist (field (append fields nil))
      (let ((inline (hive-rpc-true-p field :inline))
            (value (plist-get field :value)))
        (insert (cond ((and beside inline) "   ") (beside "\n  ") (t "  "))
                (propertize (concat (hive-text-line (plist-get field :name) 60) ": ")
                            'face 'hive-card-field)
                (if inline (hive-text-line value 200)
                  (replace-regexp-in-string "\n" "\n    " (hive-text-inert value) t t)))
        (setq beside t)
        (unless inline (insert "\n") (setq beside nil))))
    (when beside (insert "\n"))))

(defun hive-outreach--answer (ask-id label)
  "Answer the question ASK-ID of a card with LABEL, one of its buttons."
  (let ((prompt (hive-model-prompt ask-id)))
    (unless (and prompt (hive-prompt-unanswered-p prompt))
      (hive-fail "This card is already answered or closed"))
    (hive-respond-seen prompt)
    (hive-respond-send prompt (hive-read-chosen (list label)))))

(defun hive-outreach--insert-actions (card)
  "Insert the actions of CARD: buttons while its question is pending."
  (let* ((ask-id (plist-get card :ask_id))
         (prompt (and ask-id (hive-model-prompt ask-id)))
         (waiting (and prompt (hive-prompt-unanswered-p prompt)))
         (chosen (append (plist-get prompt :selected) nil)))
    (dolist (action (append (plist-get card :actions) nil))
      (let ((label (plist-get action :label)) (ask (plist-get action :ask)))
        (insert "  ")
        (if waiting
            (insert-text-button (concat "[" (hive-text-line label 60) "]")
                                'follow-link t
                                'help-echo (lambda (&rest _) (hive-text-line (or ask label) 200))
                                'action (lambda (_) (hive-outreach--answer ask-id label)))
          ;; Without the brackets that mark a button.
          (insert (propertize (concat (hive-text-line label 60)
                                      (if (member label chosen) (hive-mark " ✓") ""))
                              'face 'hive-shadow)))
        (when ask (insert "  " (hive-text-line ask 200)))
        (insert "\n")))))

(defun hive-card-insert (card)
  "Insert CARD."
  (let ((beg (point)))
    (insert (propertize (hive-text-line (plist-get card :title) 200)
                        'face (hive-outreach--face card))
            "\n")
    (when (plist-get card :description)
      (insert (replace-regexp-in-string "^" "  " (hive-text-inert (plist-get card :description)))
              "\n"))
    (hive-outreach--insert-fields (plist-get card :fields))
    (hive-outreach--insert-actions card)
    (when (hive-text-source-label card)
      (insert "  " (propertize (hive-text-source-label card) 'face 'hive-card-footer) "\n"))
    (hive-wrap-like-lines beg (point))))

;;;; State

(defconst hive-outreach--name "*hive outreach*" "The name of the buffer.")
(defconst hive-outreach--page 50 "How many are fetched at once.")
(defconst hive-outreach--pause 0.3 "Changes within so many seconds are shown together.")
(defconst hive-outreach--several 3 "More than so many arrivals share one line of the echo area.")

(defvar-local hive-outreach--items nil "The items that are shown, newest first.")
(defvar-local hive-outreach--cursor nil "The cursor of the next page, or nil.")
(defvar-local hive-outreach--kind nil "The only kind that is shown, or nil.")
(defvar-local hive-outreach--nothing (hive-words 'loading) "Why no item is shown, in words.")
(defvar-local hive-outreach--stale nil "Non-nil if the newest could not be fetched.")
(defvar hive-outreach--arrived nil "The items to be announced, newest first.")

;;;; Announcing what arrives

(defun hive-outreach--line (item before &optional short)
  "Return a line about ITEM, after the words BEFORE; without a key if SHORT."
  (if (equal (plist-get item :kind) "ping")
      (hive-words "%s%s: %s" before (hive-text-agent-in item 40)
                  (hive-text-line (plist-get item :message) (if short 100 500)))
    (hive-words "%s%s sends a card: %s%s" before (hive-text-agent-in item 40)
                (hive-text-line (plist-get item :title) 100)
                (if short "" (substitute-command-keys "  \\[hive-outreach]")))))

(defun hive-outreach--say (item)
  "Announce ITEM soon, with other arrivals, if it is for the human."
  (when (member (plist-get item :kind) '("ping" "card"))
    (push item hive-outreach--arrived)
    (hive-rpc-once hive-outreach--pause #'hive-outreach--say-arrived)))

(defun hive-outreach--say-arrived ()
  "Announce what arrived: each in a line, or many in one line."
  (let* ((items (reverse hive-outreach--arrived))
         (away (if (cl-some (lambda (item) (equal (plist-get item :status) "unseen")) items)
                   (hive-words "While you were away: ") "")))
    (setq hive-outreach--arrived nil)
    (if (length> items hive-outreach--several)
        (hive-announce "%s%d messages from agents; the latest: %s  %s" away (length items)
                       (hive-outreach--line (car (last items)) "" t)
                       (substitute-command-keys "\\[hive-outreach]"))
      (dolist (item items)
        (hive-notify-say "%s" (hive-outreach--line item away))))))

(cl-defmethod hive-rpc-handle ((_method (eql 'outreach/received)) item)
  "Take ITEM, which an agent sent."
  (when (and hive-notify-echo (not (hive-notify-suppressed-p item))
             (not (equal (plist-get item :status) "suppressed")))
    (hive-outreach--say item))
  (hive-outreach--update item))

(cl-defmethod hive-rpc-handle ((_method (eql 'outreach/changed)) item)
  "Take ITEM, which changed."
  (hive-outreach--update item))

(defun hive-outreach--update (item)
  "Show the new state of ITEM, if the buffer exists."
  (hive-in-buffer hive-outreach--name
    (hive-outreach--take item)
    ;; Alone it would look as if there was nothing before it.
    (unless (or (hive-rpc-arrive 'outreach/list item (current-buffer)) (not hive-outreach--stale))
      (hive-outreach--fetch))
    (hive-outreach--soon)))

(defun hive-outreach--take (item)
  "Put ITEM among the items of this buffer, in place of its former state."
  (let ((known (cl-member (plist-get item :outreach_id) hive-outreach--items
                          :test #'equal
                          :key (lambda (one) (plist-get one :outreach_id)))))
    (cond (known (setcar known item))
          ((member hive-outreach--kind (list nil (plist-get item :kind)))
           (push item hive-outreach--items)))))

(defun hive-outreach--soon ()
  "Print the buffer soon, once for several items."
  (when (get-buffer hive-outreach--name)
    (hive-rpc-once hive-outreach--pause #'hive-outreach--print)))

;;;; The mode

(defconst hive-outreach-keys
  '((("Cards, pings, reports"
      ("n" "next" hive-part-next)
      ("p" "previous" hive-part-previous)
      ("k" "one kind" hive-outreach-choose-kind)
      (">" "older ones" hive-outreach-older)
      ("g" menu-list-refresh revert-buffer))))
  "The keys of the list of pings, cards and reports, see `hive-keys-map'.")

(defvar hive-outreach-mode-map
  (hive-keys-map 'hive-outreach-mode hive-outreach-keys
                 :parent (make-composed-keymap button-buffer-map special-mode-map))
  "Keymap of `hive-outreach-mode'.")

(define-derived-mode hive-outreach-mode special-mode "Hive-Outreach"
  "Major mode of the list of pings, cards and reports.
\\<hive-outreach-mode-map>\\[forward-button] goes to the next button, \\[push-button] presses it.
\\{hive-outreach-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-outreach--fetch)
  (setq header-line-format (hive-keys-line hive-outreach-keys))
  (hive-rpc-while-shown hive-ages-pause #'hive-outreach--print)
  (add-hook 'hive-changed-hook #'hive-outreach--soon))

;;;; Printing

(defun hive-outreach--insert (item)
  "Insert ITEM under a line with its sender, time and status."
  (let ((begin (point)))
    (insert (propertize
             (string-join
              (delq nil (list (hive-text-agent item 40)
                              (hive-text-line (plist-get item :project) 30)
                              ;; Not everybody sees the colour of its title.
                              (mapconcat (lambda (word) (hive-text-line word 10))
                                         (delq nil (list (plist-get item :color) (plist-get item :kind)))
                                         " ")
                              (hive-words 'ago (hive-text-age (plist-get item :created_at)))
                              (hive-text-value (plist-get item :status) 20)
                              (when (plist-get item :reason)
                                (hive-text-value (plist-get item :reason) 100))
                              (when (hive-rpc-true-p item :critical) (hive-words "critical"))))
              (hive-mark " · "))
             'face 'hive-shadow)
            "\n")
    (if (equal (plist-get item :kind) "card")
        (hive-card-insert item)
      (insert (hive-text-inert (plist-get item :message)) "\n"))
    (hive-links-activate begin (point))
    (insert "\n")
    (put-text-property begin (point) 'hive-part (plist-get item :outreach_id))))

(defun hive-outreach--print ()
  "Print the buffer; positions stay in their items."
  (hive-in-buffer hive-outreach--name
    (hive-text-reprint #'hive-outreach--insert-all)
    (set-buffer-modified-p nil)))

(defun hive-outreach--insert-all ()
  "Insert the items of this buffer."
  (unless hive-outreach--items
    (insert (or (hive-sidecar-absence) hive-outreach--nothing) "\n"))
  (mapc #'hive-outreach--insert hive-outreach--items)
  (when hive-outreach--cursor
    (hive-text-part 'older
      (insert (hive-words "%s shows older ones\n" (substitute-command-keys "\\[hive-outreach-older]")))))
  (hive-wrap-heed (point-min) (point-max)))

;;;; Fetching

(defun hive-outreach--fetch (&optional cursor)
  "Fetch the newest items, or with CURSOR, the page there.
What arrives in the meantime is newer than the page."
  (let ((kind hive-outreach--kind))
    (hive-rpc-fetch
     'outreach/list `( :limit ,hive-outreach--page ,@(when kind (list :kind kind))
                       ,@(when cursor (list :cursor cursor)))
     :then (lambda (result)
             (setq hive-outreach--items (append (and cursor hive-outreach--items)
                                                (append (plist-get result :outreach) nil))
                   hive-outreach--cursor (plist-get result :next_cursor)
                   hive-outreach--nothing (if kind (hive-words "No %ss yet." kind)
                                            (hive-words "No agent has sent a ping, card or report yet.")))
             (unless cursor (setq hive-outreach--stale nil))
             (mapc #'hive-outreach--take hive-rpc-arrived)
             (hive-outreach--print))
     :failure "Hive could not fetch the cards, pings and reports: %s"
     :problem (lambda (sentence _err)
                (setq hive-outreach--nothing sentence)
                (unless cursor (setq hive-outreach--stale t))
                (hive-outreach--print)))))

;;;; Commands

;;;###autoload
(defun hive-outreach ()
  "List the pings, cards and reports of agents."
  (interactive)
  (pop-to-buffer (hive-outreach-buffer))
  (hive-outreach--fetch))

(defun hive-outreach-buffer ()
  "Return the buffer of the list, with what is known by now."
  (prog1 (hive-buffer hive-outreach--name #'hive-outreach-mode)
    (hive-outreach--print)))

(defun hive-outreach-choose-kind (kind)
  "Show only items of KIND; if empty, all."
  (interactive (list (completing-read
                      (hive-words "Show only (ping, card, report): ") '("ping" "card" "report") nil t)))
  (setq hive-outreach--kind (unless (string-empty-p kind) kind)
        hive-outreach--items nil
        hive-outreach--nothing (hive-words 'loading)
        hive-outreach--cursor nil)
  (hive-outreach--print)
  (hive-outreach--fetch))

(defun hive-outreach-older ()
  "Also show older items."
  (interactive)
  (unless hive-outreach--cursor (hive-fail 'nothing-older))
  (hive-outreach--fetch hive-outreach--cursor))

(provide 'hive-outreach)
;;; hive-outreach.el ends here
