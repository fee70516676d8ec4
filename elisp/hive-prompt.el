;;; hive-prompt.el --- One question in full  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A buffer that shows all there is about one question: who asks, where,
;; the context, every option with its description, what became of it so far
;; and what else its agent has asked.  Text of agents is inert here as
;; everywhere; it is coloured, never obeyed.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'hive-compose)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-permission)
(require 'hive-prompt-print)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-snooze)
(require 'hive-text)
(require 'hive-wrap)
(require 'subr-x)

(declare-function hive-next "hive-next")

(defvar hive-prompt-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap button-buffer-map special-mode-map))
    (define-key map (kbd "a") #'hive-prompt-answer)
    (define-key map (kbd "e") #'hive-prompt-compose)
    (define-key map (kbd "c") #'hive-prompt-cancel)
    (define-key map (kbd "s") #'hive-prompt-snooze)
    (define-key map (kbd "n") #'hive-next)
    (dotimes (n 9)
      (define-key map (number-to-string (1+ n)) #'hive-prompt-choose))
    map)
  "Keymap of `hive-prompt-mode'.")

(define-derived-mode hive-prompt-mode special-mode "Hive-Question"
  "Major mode of the buffer that shows one question in full.
\\<hive-prompt-mode-map>1 to 9 answer with an option; \\[hive-prompt-answer] answers in the minibuffer, \\[hive-prompt-compose] in
a buffer of its own; \\[hive-prompt-cancel] cancels, \\[hive-prompt-snooze] puts away, \\[hive-next] goes on to
the next question.
\\{hive-prompt-mode-map}"
  (hive-wrap-words)
  (setq-local revert-buffer-function #'hive-prompt--revert)
  (setq bidi-paragraph-direction 'left-to-right)
  (add-hook 'hive-changed-hook #'hive-prompt--look))

;;;; Following what happens

(defun hive-prompt--look ()
  "Bring buffers of questions that changed up to date."
  (dolist (buffer (buffer-list))
    (when (eq (buffer-local-value 'major-mode buffer) 'hive-prompt-mode)
      (with-current-buffer buffer
        (let* ((shown hive-prompt--prompt)
               (now (hive-model-prompt (plist-get shown :ask_id))))
          (when (and now (not (equal (plist-get now :status) (plist-get shown :status))))
            (hive-prompt--fetch buffer)))))))

(defun hive-prompt--fetch (buffer)
  "Fetch the question of BUFFER, and print it when it is here."
  (let* ((prompt (buffer-local-value 'hive-prompt--prompt buffer))
         (id (plist-get prompt :ask_id)))
    (hive-rpc-request
     'prompt/get (list :ask_id id)
     :success (lambda (result)
                (hive-prompt--take buffer :prompt (plist-get result :prompt)
                                   :events (plist-get result :events)))
     :error (lambda (err)
              (hive-notify-say "Hive could not fetch the question: %s"
                               (hive-text-line (plist-get err :text) 200))))
    (hive-rpc-request
     'prompt/list (list :agent (plist-get prompt :agent) :limit 20)
     :success (lambda (result)
                (hive-prompt--take
                 buffer :others
                 (cl-remove id (append (plist-get result :prompts) nil) :test #'equal
                            :key (lambda (other) (plist-get other :ask_id)))))
     :error #'ignore)))

(cl-defun hive-prompt--take (buffer &key prompt events (others nil others-p))
  "Show PROMPT and EVENTS, or OTHERS, in BUFFER if it is still there."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when prompt (setq hive-prompt--prompt prompt hive-prompt--events events))
      (when others-p (setq hive-prompt--others others))
      (hive-prompt--print))))

(defun hive-prompt--revert (&rest _)
  "Fetch the question anew."
  (hive-prompt--fetch (current-buffer)))

;;;; Commands

(defun hive-prompt-buffer (prompt)
  "Return the buffer of PROMPT; the rest is filled in when it is here."
  (let ((buffer (get-buffer-create (format "*hive question: %s*" (plist-get prompt :ask_id)))))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-prompt-mode) (hive-prompt-mode))
      (setq hive-prompt--prompt prompt)
      (hive-prompt--print)
      (goto-char (point-min)))
    (hive-prompt--fetch buffer)
    buffer))

(defun hive-prompt-show (prompt)
  "Show PROMPT in full."
  (hive-respond-seen prompt)
  (pop-to-buffer (hive-prompt-buffer prompt)))

(defun hive-prompt-answer ()
  "Answer the question of this buffer in the minibuffer."
  (interactive nil hive-prompt-mode)
  (hive-answer-prompt hive-prompt--prompt current-prefix-arg))

(defun hive-prompt-compose ()
  "Answer the question of this buffer in a buffer of its own."
  (interactive nil hive-prompt-mode)
  (hive-compose hive-prompt--prompt))

(defun hive-prompt-cancel ()
  "Cancel the question of this buffer: its agent gets no answer."
  (interactive nil hive-prompt-mode)
  (when (y-or-n-p "Cancel this question? ") (hive-cancel-prompt hive-prompt--prompt)))

(defun hive-prompt-snooze ()
  "Put the question of this buffer away for a while, or bring it back."
  (interactive nil hive-prompt-mode)
  (when (hive-snooze-prompt hive-prompt--prompt) (quit-window)))

(defun hive-prompt-choose ()
  "Answer with the option whose number was pressed."
  (interactive nil hive-prompt-mode)
  (let* ((number (- last-command-event ?0))
         (option (nth (1- number) (append (plist-get hive-prompt--prompt :options) nil))))
    (unless option (user-error "This question has no option %d" number))
    (hive-prompt--send-label (plist-get option :label))))

(defun hive-prompt--send-label (label)
  "Answer the question of this buffer with the option LABEL."
  (unless (hive-prompt-waiting-p hive-prompt--prompt)
    (user-error "This question no longer waits"))
  (when (and (hive-permission-confirmed-p hive-prompt--prompt label)
             (not (y-or-n-p (format "This is a PERMISSION.  Answer \"%s\"? "
                                    (hive-text-line label 60)))))
    (user-error "Nothing was answered"))
  (hive-respond-send hive-prompt--prompt (list :decision label :selected (vector label))))

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/open_prompt)) params)
  "Show the question of PARAMS, whose popup the human clicked."
  (let ((prompt (hive-model-prompt (plist-get params :ask_id))))
    (when prompt
      ;; Shown, not selected: keys on their way belong to what they were typed for.
      (display-buffer (hive-prompt-buffer prompt)))))

(provide 'hive-prompt)
;;; hive-prompt.el ends here
