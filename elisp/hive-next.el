;;; hive-next.el --- Answering one question after the other  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-next' takes the most urgent question that waits, and one key
;; answers it: each option has one.  Then it offers the following question,
;; until none is left or you leave it.

;;; Code:

(require 'cl-lib)
(require 'hive-compose)
(require 'hive-human)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-snooze)
(require 'hive-template)
(require 'hive-text)
(require 'hive-waiting)
(require 'subr-x)

(defface hive-next-key '((t :inherit (bold highlight)))
  "The key of an option."
  :group 'hive)

(defface hive-next-chosen '((t :inherit (bold success)))
  "An option that was chosen, where several may be."
  :group 'hive)

;;;; Keys

(defconst hive-next--keys "123456789abcdfghijklmnoprtuvwxyz"
  "The keys of options, in order; e, q and s mean something else.")

(defun hive-next--choices (prompt)
  "Return an alist of key and option of PROMPT, templates last."
  (cl-loop for option in (append (plist-get prompt :options)
                                 (mapcar (lambda (text) (list :template text))
                                         (hive-template-texts prompt)))
           for key across hive-next--keys
           collect (cons key option)))

(defun hive-next--choice-text (choice chosen)
  "Return CHOICE, a key and an option, as shown; CHOSEN are the labels chosen."
  (let* ((label (plist-get (cdr choice) :label))
         (mine (member label chosen))
         (template (plist-get (cdr choice) :template)))
    (concat (propertize (format " %c " (car choice)) 'face 'hive-next-key) " "
            (if template
                (propertize (hive-text-line template 60) 'face 'hive-template)
              (propertize (hive-text-line label 60) 'face (if mine 'hive-next-chosen 'default)))
            (if mine " ✓" ""))))

(defun hive-next--help (prompt)
  "Return what the other keys do for PROMPT."
  (string-join
   (delq nil
         (list (when (and (plist-get prompt :options) (hive-rpc-true-p prompt :multi_select))
                 "RET send")
               (when (hive-rpc-true-p prompt :allow_free_text)
                 (if (hive-rpc-true-p prompt :multi_select) "e own words" "RET own words"))
               "TAB skip" "s snooze" "? all of it" "q leave"))
   "  "))

(defun hive-next--text (prompt chosen left)
  "Return what is shown of PROMPT; CHOSEN are labels, LEFT is how many follow."
  (let ((mark (pcase (hive-prompt-rank prompt) (0 "! ") (2 "· ") (_ ""))))
    (concat
     (propertize
      (format "%s%s  %s  %s%s\n" mark
              (hive-text-line (plist-get prompt :agent) 40)
              (hive-text-line (plist-get prompt :project) 30)
              (hive-text-age (plist-get prompt :created_at))
              (if (> left 0) (format "  (%d more)" left) ""))
      'face 'shadow)
     (propertize (hive-human-note prompt) 'face 'warning)
     (hive-text-line (plist-get prompt :question) (* 3 (frame-width))) "\n"
     (mapconcat (lambda (choice) (hive-next--choice-text choice chosen))
                (hive-next--choices prompt) "   ")
     (if (hive-next--choices prompt) "\n" "")
     (propertize (hive-next--help prompt) 'face 'shadow))))

;;;; One question

(defun hive-next--read-key (text)
  "Show TEXT in the echo area and return the key that is pressed."
  (let ((resize-mini-windows t)
        (max-mini-window-height 0.5)
        (message-log-max nil))
    (read-key text)))

(defun hive-next--ask (prompt left)
  "Let the human deal with PROMPT, after which LEFT follow.
Return what they did: answered, skip, snooze, or nil to leave."
  (hive-respond-claim prompt)
  (let ((choices (hive-next--choices prompt))
        (several (hive-rpc-true-p prompt :multi_select))
        (free (hive-rpc-true-p prompt :allow_free_text))
        (chosen nil) (done nil))
    (while (not done)
      (let* ((key (hive-next--read-key (hive-next--text prompt chosen left)))
             (option (cdr (assq key choices)))
             (label (plist-get option :label)))
        (cond
         ((plist-get option :template)
          (setq done (hive-next--send-template prompt (plist-get option :template) chosen)))
         ((and option several)
          (setq chosen (if (member label chosen) (remove label chosen)
                         (append chosen (list label)))))
         (option (setq done (hive-next--send prompt (list label))))
         ((memq key '(?\r ?\n return))
          (cond (chosen (setq done (hive-next--send prompt chosen)))
                (several (message "Choose something first, or e for your own words") (sit-for 1))
                (free (setq done (hive-next--own-words prompt)))
                (t (message "This question takes one of its options only") (sit-for 1))))
         ((and free several (eq key ?e)) (setq done (hive-next--own-words prompt)))
         ((memq key '(?\t tab)) (setq done 'skip))
         ((eq key ?s) (setq done (hive-next--snooze prompt)))
         ((eq key ??) (hive-prompt-show prompt) (setq done 'leave))
         ((memq key '(?q ?\e ?\C-g escape)) (setq done 'leave)))))
    (unless (eq done 'answered) (hive-respond-release prompt))
    (unless (eq done 'leave) done)))

(defun hive-next--send (prompt labels)
  "Answer PROMPT with the options LABELS."
  (hive-respond-send prompt (list :decision (string-join labels ", ")
                                   :selected (vconcat labels)))
  'answered)

(defun hive-next--send-template (prompt text chosen)
  "Answer PROMPT with TEXT, a template, beside the labels CHOSEN if any."
  (if (null chosen)
      (hive-respond-send prompt (list :decision text))
    (hive-respond-send prompt (list :decision (string-join chosen ", ")
                                     :selected (vconcat chosen) :comment text)))
  'answered)

(defun hive-next--own-words (prompt)
  "Answer PROMPT in words of the human's own; empty words answer nothing."
  (let ((answer (list :decision (hive-compose-read prompt))))
    (if (hive-respond-empty-p answer)
        'skip
      (hive-respond-send prompt answer)
      'answered)))

(defun hive-next--snooze (prompt)
  "Put PROMPT away and say that it is done with for now."
  (hive-snooze-prompt prompt)
  'snooze)

;;;; The command

(defun hive-next--following (passed)
  "Return what waits now and was not PASSED, a list of ids."
  (cl-remove-if (lambda (prompt)
                  (or (member (plist-get prompt :ask_id) passed)
                      (hive-prompt-snoozed-p prompt)))
                (hive-prompts-mine)))

;;;###autoload
(defun hive-next ()
  "Answer what waits, one question after the other, the most urgent first.
Each option has a key: 1 to 9, then letters.  Where several may be
chosen the keys toggle and RET sends.  Otherwise RET takes words of
your own.  TAB skips a question, s puts it away for a while, ?
shows all of it, q leaves.  After an answer the next one follows."
  (interactive)
  (let ((passed nil) (waiting (hive-next--following nil)) (answered 0))
    (unless (or waiting (hive-prompts)) (hive-sidecar-demand))
    (unless waiting (message "No agent waits for you%s" (hive-respond-others)))
    (while waiting
      (let* ((prompt (car waiting))
             (done (hive-next--ask prompt (length (cdr waiting)))))
        (push (plist-get prompt :ask_id) passed)
        (when (eq done 'answered) (setq answered (1+ answered)))
        (setq waiting (and done (hive-next--following passed)))
        (when (and done (null waiting))
          (message "%s" (if (> answered 0)
                            (format "That was the last: %d answered" answered)
                          "No other question waits")))))))

(provide 'hive-next)
;;; hive-next.el ends here
