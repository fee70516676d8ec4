;;; hive-card.el --- A card, with its buttons  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; How a card of an agent looks in a buffer: a title in its colour, a text,
;; names with values, a button an action, and where its sender runs.  A button answers the question
;; that belongs to the card, like any other answer.  Text of agents is inert.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'hive-model)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'hive-wrap)

(defface hive-card-blue '((t :inherit (bold font-lock-function-name-face)))
  "The title of a card for information." :group 'hive)
(defface hive-card-green '((t :inherit (bold success)))
  "The title of a card about what is done." :group 'hive)
(defface hive-card-yellow '((t :inherit (bold warning)))
  "The title of a card to look at." :group 'hive)
(defface hive-card-red '((t :inherit (bold error)))
  "The title of a card about trouble." :group 'hive)
(defface hive-card-title '((t :inherit bold))
  "The title of a card without a colour." :group 'hive)
(defface hive-card-field '((t :inherit font-lock-keyword-face))
  "The name of a value on a card." :group 'hive)
(defface hive-card-footer '((t :inherit (italic shadow)))
  "Below a card: where its sender runs, unless that is the main session." :group 'hive)

(defun hive-card--face (card)
  "Return the face of the title of CARD."
  (pcase (plist-get card :color)
    ("blue" 'hive-card-blue) ("green" 'hive-card-green)
    ("yellow" 'hive-card-yellow) ("red" 'hive-card-red) (_ 'hive-card-title)))

(defun hive-card--indented (text)
  "Return TEXT, inert, each line of it indented."
  (replace-regexp-in-string "^" "  " (hive-text-inert text)))

(defun hive-card--insert-fields (fields)
  "Insert FIELDS, those that are inline beside their neighbours."
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

(defun hive-card--answer (ask-id label)
  "Answer the question ASK-ID of a card with LABEL, one of its buttons."
  (let ((prompt (hive-model-prompt ask-id)))
    (unless (and prompt (hive-prompt-waiting-p prompt))
      (user-error "This card was answered already, or waits no more"))
    (hive-respond-seen prompt)
    (hive-respond-send prompt (list :decision label :selected (vector label)))))

(defun hive-card--insert-actions (card)
  "Insert the actions of CARD: buttons while its question waits."
  (let* ((ask-id (plist-get card :ask_id))
         (prompt (and ask-id (hive-model-prompt ask-id)))
         (waiting (and prompt (hive-prompt-waiting-p prompt)))
         (chosen (append (plist-get prompt :selected) nil)))
    (dolist (action (append (plist-get card :actions) nil))
      (let ((label (plist-get action :label)) (ask (plist-get action :ask)))
        (insert "  ")
        (if waiting
            (insert-text-button (concat "[" (hive-text-line label 60) "]")
                                'follow-link t
                                'help-echo (lambda (&rest _) (hive-text-line (or ask label) 200))
                                'action (lambda (_) (hive-card--answer ask-id label)))
          ;; Without brackets: those are on what can be pressed.
          (insert (propertize (concat (hive-text-line label 60)
                                      (if (member label chosen) " ✓" ""))
                              'face 'shadow)))
        (when ask (insert "  " (hive-text-line ask 200)))
        (insert "\n")))))

(defun hive-card-insert (card)
  "Insert CARD."
  (let ((beg (point)))
    (insert (propertize (hive-text-line (plist-get card :title) 200)
                        'face (hive-card--face card))
            "\n")
    (when (plist-get card :description)
      (insert (hive-card--indented (plist-get card :description)) "\n"))
    (hive-card--insert-fields (plist-get card :fields))
    (hive-card--insert-actions card)
    (when (hive-text-source card)
      (insert "  " (propertize (hive-text-source card) 'face 'hive-card-footer) "\n"))
    (hive-wrap-like-lines beg (point))))

(provide 'hive-card)
;;; hive-card.el ends here
