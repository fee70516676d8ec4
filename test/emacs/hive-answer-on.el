;;; hive-answer-on.el --- A human who never stops answering  -*- lexical-binding: t; -*-

;;; Commentary:

;; For the rounds of kill -9: runs `M-x hive-respond' again and again, with
;; simulated input.  Each answer is printed before it is entered, so the test
;; knows which answer the next "queued" is about.
;;
;; For the race with phones: answers some questions and leaves the others.

;;; Code:

(require 'cl-lib)
(require 'hive-mode)

(defun hive-answer-on (name)
  "Answer every pending question until Emacs is killed.
No two answers are the same: each begins with NAME, which no other
Emacs has, or is the label of an option that no other question has."
  (let ((count 0) (refused (make-hash-table :test #'equal)))
    (cl-flet ((typed (text) (message "typed %s" text) text)
              (words () (format "%s, answer %d" name (cl-incf count))))
      (cl-letf (((symbol-function 'read-string) (lambda (&rest _) (typed (words))))
                ((symbol-function 'completing-read)
                 (lambda (prompt table &optional _predicate _strict _initial _history default &rest _)
                   (cond
                    (default)           ; which of many: the one that is offered
                    ((gethash prompt refused) (typed (car (all-completions "" table))))
                    ;; First, free text where it is not allowed: the store refuses it.
                    (t (puthash prompt t refused)
                       (typed (words)))))))
        (while t
          (when (hive-prompts-mine) (hive-respond))
          (sleep-for 0.02))))))

(defun hive-answer-some--stored (entry result)
  "Print what became of the answer in ENTRY, which RESULT says."
  (message "settled %s %s %s %s" (hive-outbox-entry-ask-id entry)
           (hive-outbox-entry-response-id entry)
           (if (hive-rpc-true-p result :accepted) "won" "lost")
           (plist-get result :decision)))

(defun hive-answer-some--answer (prompt)
  "Answer PROMPT, unless it is settled by now, and print the id of the answer."
  (condition-case nil
      (progn (hive-answer-prompt prompt)
             (dolist (entry (last (hive-outbox-entries 'pending)))
               (message "queued %s %s" (hive-outbox-entry-ask-id entry)
                        (hive-outbox-entry-response-id entry))))
    (user-error nil)))

(defun hive-answer-some (label seed)
  "Answer one question in three with the option LABEL until Emacs is killed.
SEED, a number, decides which, and when: often the oldest one, which
others are about to answer."
  (let ((seen (make-hash-table :test #'equal)) (lot seed))
    (add-hook 'hive-outbox-stored-functions #'hive-answer-some--stored)
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) label)))
      (cl-flet ((lot-below (most)
                  (setq lot (mod (+ (* lot 1103515245) 12345) 2147483648))
                  (mod (/ lot 65536) most)))
        (while t
          (let* ((left (cl-remove-if (lambda (prompt) (gethash (plist-get prompt :ask_id) seen))
                                     (hive-prompts-mine)))
                 (prompt (and left (if (zerop (lot-below 2)) (car left)
                                     (nth (lot-below (length left)) left)))))
            (when prompt
              (puthash (plist-get prompt :ask_id) t seen)
              (when (zerop (lot-below 3)) (hive-answer-some--answer prompt))))
          (sleep-for (* 0.001 (lot-below 60))))))))

(provide 'hive-answer-on)
;;; hive-answer-on.el ends here
